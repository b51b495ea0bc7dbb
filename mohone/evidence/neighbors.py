"""Who is near whom in network space, and how much each neighbour counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.nn import functional as F

from mohone.core.errors import require_choice
from mohone.core.parallel import Array
from mohone.core.random import below, stream

WEIGHTS = ("even", "cosine")


class Neighbors(NamedTuple):
    """The neighbours of each entity.

    Attributes:
        rows: `(n, k)` int32 entities, none an entity's own; -1: none.
        weights: `(n, k)` float32; those of an entity sum to 1, or are all 0 where it has no neighbour.
    """

    rows: Tensor
    weights: Tensor


def weigh(rows: Tensor, vectors: Tensor | None = None) -> Neighbors:
    """Neighbours with even weights, or by the cosine of their vectors, of which those below 0 count 0.

    Args:
        rows: `(n, k)`, as of `nearest_neighbors`: -1 for none.
        vectors: `(n, dim)`; None: even weights.
    """
    there = rows >= 0
    if vectors is None:
        weights = there.float()
    else:
        table = F.normalize(vectors.float())
        weights = torch.stack([(table * table[column.clamp(min=0)]).sum(1) for column in rows.T], 1)
        weights = weights.clamp(min=0) * there
    return Neighbors(rows.int(), weights / weights.sum(1, keepdim=True).clamp(min=1e-12))


def check_weights(value: object) -> str:
    """How neighbours are weighed, if it can be.

    Raises:
        ConfigError: if it is none of `WEIGHTS`.
    """
    return require_choice("infusion.weights", value, WEIGHTS)


def random_neighbors(n: int, k: int, seed: int, excluded: Tensor | None = None) -> Tensor:
    """The control: k others of each entity, drawn evenly; `(n, k)`, -1 where there is none.

    Args:
        n: entities.
        k: neighbours of each; fewer if there are fewer entities.
        seed: of the draws; an entity's own depend on nothing else.
        excluded: `(n,)` of bool: entities that are nobody's neighbour and have none (the isolated ones).
    """
    kept = torch.arange(n) if excluded is None else (~excluded).nonzero().flatten()
    k = min(k, max(0, len(kept) - 1))
    out = torch.full((n, k), -1)
    if k:
        drawn = np.empty((len(kept), k), np.int64)
        _draw(np.uint64(seed), drawn)
        out[kept] = kept[torch.from_numpy(drawn)]
    return out


@njit(cache=True, nogil=True)
def _draw(key: np.uint64, out: Array) -> None:
    """For each row, k of the other row numbers, none twice [Floyd's sampling]."""
    n, k = out.shape
    for i in range(n):
        for j in range(k):
            last = n - 1 - k + j  # Numbers of the others run to n - 2.
            drawn = below(stream(key, i * k + j), last + 1)
            for before in range(j):
                if out[i, before] == drawn:
                    drawn = last
                    break
            out[i, j] = drawn
        for j in range(k):
            if out[i, j] >= i:
                out[i, j] += 1
