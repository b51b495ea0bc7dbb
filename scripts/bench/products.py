"""The matrix products behind our evaluation and behind `one_vs_all`, alone: what no code can do without.

- `evaluate`: for each chunk of queries of our evaluation the one product that scores all entities.
- `train`: for each side of each batch of `one_vs_all` the forward product and those of the two gradients.

They are written into memory that is there already.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import torch

from bench.clock import Clock, warmup_of
from bench.subjects import count_batch, first_epoch, load_kg, make_model, make_objective
from mohone.evaluation.link_prediction import LinkPrediction


class Products:
    """The products of a dot-product model, with all memory made beforehand."""

    def __init__(self, n_queries: int, table: torch.Tensor) -> None:
        self.table = table.detach().clone()
        self.queries = torch.randn(n_queries, table.shape[1])
        self.scores = torch.empty(n_queries, len(table))
        self.of_queries, self.of_table = torch.empty_like(self.queries), torch.empty_like(self.table)

    def forward(self, n: int) -> None:
        """Scores of all entities for `n` queries."""
        torch.mm(self.queries[:n], self.table.T, out=self.scores[:n])

    def backward(self, n: int) -> None:
        """Both gradients of the scores of `n` queries."""
        torch.mm(self.scores[:n], self.table, out=self.of_queries[:n])
        torch.mm(self.scores[:n].T, self.queries[:n], out=self.of_table)


@torch.no_grad()
def evaluate(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds of the products of one evaluation of the test split."""
    kg = load_kg(spec)
    table = make_model(spec["model"], kg, spec["dim"]).get_parameter("entity")
    chunks = LinkPrediction(kg, "test", ("filtered",))._chunks(torch.device("cpu"))
    sizes = [len(chunk.triples) for chunk in chunks]
    products = Products(max(sizes), table)
    products.forward(max(sizes))
    start = time.perf_counter()
    for size in sizes:
        products.forward(size)
    seconds = time.perf_counter() - start
    return {"evaluate_seconds": seconds, "products": len(sizes), "width": table.shape[1]}


@torch.no_grad()
def train(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds of the products of one epoch of `one_vs_all`."""
    kg = load_kg(spec)
    table = make_model(spec["model"], kg, spec["dim"]).get_parameter("entity")
    n, batches, _ = first_epoch(kg, make_objective("one_vs_all", spec["model"]), spec["batch_size"])
    products = Products(spec["batch_size"], table)
    clock = Clock(spec["seconds"], warmup_of(len(batches)))
    clock.start()
    for batch in batches:
        sizes = [len(side.entity) for side in (batch.tail, batch.head)]
        for size in filter(None, sizes):
            products.forward(size)
            products.backward(size)
        if clock.tick(partial(count_batch, batch, len(table))):
            break
    return {**clock.epoch(n), "width": table.shape[1]}
