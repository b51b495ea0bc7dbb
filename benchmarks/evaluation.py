"""Our evaluation of the test split, with evidence and without, and the bare matrix products behind it.

The products of an epoch of `one_vs_all` are here, too. No code can do without those products; here they are
written into memory that is there already.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import torch

from benchmarks import ours
from benchmarks.clock import Clock
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evidence.fit import fit_evidence
from mohone.evidence.neighbors import random_neighbors, weigh
from mohone.infusion.evidence import EXPERTS, USUAL

_N_NEIGHBORS = 20


def evaluate(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds to rank the whole test split in all three settings, the making of the indices included."""
    kg = ours.load_kg(spec)
    model = ours.make_model(spec, kg)
    start = time.perf_counter()
    prediction = LinkPrediction(kg, "test")
    built = time.perf_counter()
    ranks = prediction.ranks(model)
    end = time.perf_counter()
    return {
        "index_seconds": built - start,
        "rank_seconds": end - built,
        "evaluate_seconds": end - start,
        "triples": len(kg.test),
        "settings": list(ranks),
    }


def evaluate_evidence(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds to fit evidence to the model, neighbours drawn by lot, and to rank the test split with it.

    The model is as untrained as in `evaluate`: what a score costs does not depend on how good it is.
    """
    kg = ours.load_kg(spec)
    model = ours.make_model(spec, kg)
    neighbors = weigh(random_neighbors(kg.n_entities, _N_NEIGHBORS, seed=0))
    start = time.perf_counter()
    evidence, notes = fit_evidence(model, kg, neighbors, [EXPERTS[name]() for name in USUAL])
    fitted = time.perf_counter()
    LinkPrediction(kg, "test").ranks(evidence)
    return {
        "fit_seconds": fitted - start,
        "evaluate_seconds": time.perf_counter() - fitted,
        "mode": notes["mode"],
    }


class Products:
    """The products of a dot-product model with its `(n_entities, width)` table."""

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
def evaluate_floor(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds of the products of one evaluation: one for each chunk of queries."""
    kg = ours.load_kg(spec)
    table = ours.make_model(spec, kg).get_parameter("entity")
    sizes = ours.chunk_sizes(kg)
    products = Products(max(sizes), table)
    products.forward(max(sizes))
    start = time.perf_counter()
    for size in sizes:
        products.forward(size)
    seconds = time.perf_counter() - start
    return {"evaluate_seconds": seconds, "products": len(sizes), "width": table.shape[1]}


@torch.no_grad()
def train_floor(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds of the products of one epoch of `one_vs_all`: three for each side of each batch."""
    kg = ours.load_kg(spec)
    table = ours.make_model(spec, kg).get_parameter("entity")
    n, batches, _ = ours.first_epoch(kg, ours.make_objective(spec), spec["batch_size"])
    products = Products(spec["batch_size"], table)
    clock = Clock(spec["seconds"], len(batches))
    clock.start()
    for batch in batches:
        for size in ours.queries_of(batch):
            products.forward(size)
            products.backward(size)
        if clock.tick(partial(ours.count_batch, batch, len(table))):
            break
    return {**clock.epoch(n), "width": table.shape[1]}
