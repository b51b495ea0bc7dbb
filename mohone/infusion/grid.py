"""How many neighbours, and how strong their pull: chosen on the validation triples, from a small grid."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor

from mohone.core.words import counted
from mohone.infusion.retrofit import Pull, retrofit
from mohone.kge.base import KGEModel
from mohone.kge.query_side import MOVED


@dataclass(frozen=True)
class Selection:
    """The chosen point of the grid; `beta` 0 means that validation preferred no infusion."""

    side: str
    neighbors: int
    beta: float
    alpha: float
    valid_mrr_baseline: float
    valid_mrr_retrofitted: float
    grid: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for a JSON file, with the choice in words."""
        point = f"{counted(self.neighbors, 'neighbour')}, beta {self.beta:g}"
        return {**asdict(self), "chosen": point if self.beta else "no infusion", "kept": self.beta != 0}


def select(
    model: KGEModel,
    nearest: Tensor,
    mrr: Callable[[KGEModel], float],
    *,
    sides: Sequence[str],
    neighbors: Sequence[int],
    pulls: Sequence[Pull],
    on_point: Callable[[], object] = lambda: None,
) -> Selection:
    """Retrofit with each point of the grid and keep the one of the highest validation MRR.

    A pull of 0 in the grid is the baseline itself, tried once. Of equals the first wins, of an empty network
    the baseline. The model is left as it was.

    Args:
        nearest: `(n_entities, k)` with k >= max(neighbors), or all there are; nearest first.
        mrr: the validation score of a model.
        on_point: called after each point, for a progress bar.
    """
    with torch.no_grad():
        baseline = mrr(model)
        unmoved = {"side": "both", "neighbors": 0, "beta": 0.0, "valid_mrr": baseline}
        moving = sorted({pull for pull in pulls if pull.beta}, key=lambda pull: pull.beta)
        unmoved_counts = nearest.shape[1] == 0 or any(pull.beta == 0 for pull in pulls)
        grid: list[dict[str, Any]] = [unmoved] if unmoved_counts else []
        sided = {side: MOVED[side](copy.deepcopy(model)) for side in sides}
        ks = sorted({min(k, nearest.shape[1]) for k in neighbors} - {0})
        for (side, moved), k, pull in product(sided.items(), ks, moving):
            with _retrofitted(moved, nearest[:, :k], pull):
                grid.append({"side": side, "neighbors": k, "beta": pull.beta, "valid_mrr": mrr(moved)})
            on_point()
    best = max(grid, key=lambda point: point["valid_mrr"])
    return Selection(
        side=best["side"],
        neighbors=int(best["neighbors"]),
        beta=best["beta"],
        alpha=pulls[0].alpha,
        valid_mrr_baseline=baseline,
        valid_mrr_retrofitted=best["valid_mrr"],
        grid=grid,
    )


@contextmanager
def _retrofitted(model: KGEModel, nearest: Tensor, pull: Pull) -> Iterator[None]:
    """The model with its entity tables retrofitted, for the length of the block."""
    tables = model.entity_parameters().values()
    before = [table.data for table in tables]
    try:
        for table in tables:
            table.data = retrofit(table.data, nearest, pull)
        yield
    finally:
        for table, data in zip(tables, before, strict=True):
            table.data = data
