"""The nearest neighbours of each entity in a network embedding: the paper's Omega."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.errors import require_choice, require_int

METRICS = ("cosine", "euclidean")
_BLOCK_ELEMENTS = 1 << 22


def nearest_neighbors(
    vectors: Tensor, k: int, metric: str = "cosine", excluded: Tensor | None = None
) -> Tensor:
    """The k nearest others of each row, nearest first, exactly.

    Args:
        vectors: `(n, dim)` network embeddings.
        k: neighbours; fewer if there are fewer rows.
        metric: `cosine` or `euclidean`.
        excluded: `(n,)` of bool: rows that are nobody's neighbour and have none.

    Returns:
        `(n, min(k, number of others))` row numbers; -1 throughout an excluded row.
    """
    require_int("infusion.neighbors", k, 1)
    require_choice("infusion.metric", metric, METRICS)
    n = len(vectors)
    out = torch.arange(n)
    kept = out if excluded is None else (~excluded).nonzero().flatten()
    k = min(k, max(0, len(kept) - 1))
    neighbors = torch.full((n, k), -1)
    if k == 0:
        return neighbors
    table = F.normalize(vectors[kept]) if metric == "cosine" else vectors[kept]
    squares = table.square().sum(1)
    step = max(1, _BLOCK_ELEMENTS // len(kept))
    for start in range(0, len(kept), step):
        block = table[start : start + step]
        # Euclidean order is that of |b|^2 - 2 a.b; cosine order is the same on the unit sphere.
        distance = torch.addmm(squares, block, table.T, alpha=-2.0)
        own = torch.arange(start, start + len(block))
        distance[torch.arange(len(block)), own] = torch.inf
        neighbors[kept[own]] = kept[distance.topk(k, 1, largest=False).indices]
    return neighbors
