"""The nearest rows of a table of vectors: exactly, or for large tables approximately."""

from __future__ import annotations

import importlib.util
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.core.errors import ConfigError, require_choice

METRICS = ("cosine", "euclidean")
MOST_EXACT = 200_000  # Rows up to which all pairs are compared: 200,000 at dim 100 are 8e12 flop, minutes.
_BLOCK_ELEMENTS = 1 << 22
_RECALL_ROWS = 256  # Rows whose exact neighbours are computed to state the recall.
_PROBED_SHARE = 16  # One list in so many is searched.
_TRAIN_ROWS = 64  # Rows a list that the lists' centres are learned from.


class Nearest(NamedTuple):
    """Row numbers `(n, k)`, nearest first, -1 where there is none, and their recall (1.0: exact)."""

    rows: Tensor
    recall: float


def nearest_neighbors(
    vectors: Tensor,
    k: int,
    metric: str = "cosine",
    excluded: Tensor | None = None,
    most_exact: int = MOST_EXACT,
) -> Nearest:
    """The k nearest others of each row.

    Beyond `most_exact` rows the search is by inverted lists (faiss's IVF): rows are sorted into about
    `4 sqrt(n)` lists and one list in 16 is searched. The recall is then measured, on 256 rows.

    Args:
        vectors: `(n, dim)`.
        k: neighbours; fewer if there are fewer rows.
        metric: `cosine` or `euclidean`.
        excluded: `(n,)` of bool: rows that are nobody's neighbour and have none: -1 throughout.
        most_exact: rows up to which the search is exact.

    Raises:
        ConfigError: beyond `most_exact` rows where faiss is not installed.

    Example:
        >>> on_a_line = torch.tensor([[0.0], [1.0], [3.0]])
        >>> nearest_neighbors(on_a_line, 2, "euclidean").rows.tolist()
        [[1, 2], [0, 2], [1, 0]]
    """
    require_choice("infusion.metric", metric, METRICS)
    n = len(vectors)
    kept = torch.arange(n) if excluded is None else (~excluded).nonzero().flatten()
    k = min(k, max(0, len(kept) - 1))
    out = torch.full((n, k), -1)
    if k == 0:
        return Nearest(out, 1.0)
    table = F.normalize(vectors[kept]) if metric == "cosine" else vectors[kept]
    exact = len(kept) <= most_exact
    check_nearest(len(kept), most_exact)
    found = _search(table, torch.arange(len(kept)), k) if exact else _search_lists(table, k)
    out[kept] = kept[found].masked_fill_(found < 0, -1)
    return Nearest(out, 1.0 if exact else _recall(table, found))


class Near(NamedTuple):
    """The nearest others of one row: their row numbers, nearest first, and how near: both `(k,)`.

    `closeness` is the cosine, or the distance.
    """

    rows: Tensor
    closeness: Tensor


def nearest_to(
    vectors: Tensor, row: int, k: int, metric: str = "cosine", excluded: Tensor | None = None
) -> Near:
    """The k nearest others of one row, exactly, whatever their number.

    Args:
        vectors: `(n, dim)`.
        row: whose.
        k: fewer if there are fewer rows.
        metric: `cosine` or `euclidean`.
        excluded: `(n,)` of bool: rows that are nobody's neighbour and have none.

    Example:
        >>> near = nearest_to(torch.tensor([[0.0], [1.0], [3.0]]), 2, 2, "euclidean")
        >>> near.rows.tolist(), near.closeness.tolist()
        ([1, 0], [2.0, 3.0])
    """
    require_choice("metric", metric, METRICS)
    if metric == "cosine":
        order = -(F.normalize(vectors) @ F.normalize(vectors[row], dim=0))
    else:
        order = (vectors - vectors[row]).norm(dim=1)
    barred = torch.zeros(len(vectors), dtype=torch.bool) if excluded is None else excluded.clone()
    n_left = 0 if barred[row] else len(vectors) - int(barred.sum()) - 1
    barred[row] = True
    found = order.masked_fill(barred, torch.inf).sort(stable=True).indices[: min(k, n_left)]
    return Near(found, -order[found] if metric == "cosine" else order[found])


def _search(table: Tensor, queries: Tensor, k: int) -> Tensor:
    """The k nearest of these rows among all, block by block."""
    squares = table.square().sum(1)
    found = torch.empty(len(queries), k, dtype=torch.int64)
    step = max(1, _BLOCK_ELEMENTS // len(table))
    for start in range(0, len(queries), step):
        own = queries[start : start + step]
        # Euclidean order is that of |b|^2 - 2 a.b; cosine order is the same on the unit sphere.
        distance = torch.addmm(squares, table[own], table.T, alpha=-2.0)
        distance[torch.arange(len(own)), own] = torch.inf
        found[start : start + step] = distance.topk(k, 1, largest=False).indices
    return found


def check_nearest(n: int, most_exact: int = MOST_EXACT) -> None:
    """Can the neighbours of so many rows be found?

    Raises:
        ConfigError: beyond `most_exact` rows where faiss is not installed.
    """
    if n > most_exact and importlib.util.find_spec("faiss") is None:
        raise ConfigError(
            f"`faiss-cpu` must be installed (extra `large`) for the neighbours of {n:,} entities, but is not."
        )


def _search_lists(table: Tensor, k: int) -> Tensor:
    """The k nearest of all rows by faiss's inverted lists; -1 where the searched lists held fewer."""
    import faiss

    array = table.float().contiguous().numpy()
    n_lists = max(1, int(4 * len(array) ** 0.5))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(array.shape[1]), array.shape[1], n_lists, faiss.METRIC_L2)
    index.cp.seed, index.cp.niter, index.cp.max_points_per_centroid = 0, 10, _TRAIN_ROWS
    index.train(array)
    index.add(array)
    index.nprobe = max(1, n_lists // _PROBED_SHARE)
    _, with_self = index.search(array, k + 1)
    rows = torch.from_numpy(with_self)
    # Drop the row itself, wherever ties or a full list have put it.
    own = rows == torch.arange(len(rows))[:, None]
    own[:, k] |= ~own.any(1)
    return rows[~own].view(len(rows), k)


def _recall(table: Tensor, found: Tensor) -> float:
    """The share of the exact neighbours of some rows, evenly spaced, that were found."""
    queries = torch.arange(0, len(table), max(1, len(table) // _RECALL_ROWS))
    exact = _search(table, queries, found.shape[1])
    hits = (exact[:, :, None] == found[queries][:, None, :]).any(2)
    return float(hits.float().mean())
