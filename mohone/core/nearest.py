"""The nearest rows of a table of vectors: exactly, or for large tables approximately."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.core.errors import not_installed, require_choice

METRICS = ("cosine", "euclidean")
MOST_EXACT = 200_000  # Rows up to which all pairs are compared: 200,000 at dim 100 are 8e12 flop, minutes.
_BLOCK_ELEMENTS = 1 << 22
_LEAST_ROWS = 16  # Compared at once with all: the table is read once for them.
_RECALL_ROWS = 256  # Rows whose exact neighbours are computed to state the recall.
_PROBED = 32  # Lists searched for a row, of however many.
_REFINED = 4  # So many times k rows are compared exactly, the nearest by their codes.
_MANY = 64  # Numbers a row from which on two share a digit of its code.
_ROWS = 1 << 16  # Searched for at a time.
_TRAIN_ROWS = 40  # Rows a list that the lists' centres are learned from.
_CODE_ROWS = 4096  # Rows a value of the codes, 16 of each, that these are learned from.


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

    Beyond `most_exact` rows the search is by inverted lists of short codes (faiss's IVF with fast scans of
    4-bit product quantisers): rows are sorted into about `4 sqrt(n)` lists, 32 of which are searched, and of
    the nearest by their codes 4k are compared exactly. The recall is then measured, on 256 rows.

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
    require_choice("metric", metric, METRICS)
    n = len(vectors)
    kept = torch.arange(n) if excluded is None else (~excluded).nonzero().flatten()
    k = min(k, max(0, len(kept) - 1))
    out = torch.full((n, k), -1)
    if k == 0:
        return Nearest(out, 1.0)
    table = vectors if len(kept) == n else vectors[kept]  # No copy of a large table without need.
    table = F.normalize(table) if metric == "cosine" else table
    exact = len(kept) <= most_exact
    check_nearest(len(kept), most_exact)
    blocks = _search(table, torch.arange(len(kept)), k) if exact else _search_lists(table, k)
    done = 0
    for found in blocks:
        out[kept[done : done + len(found)]] = kept[found].masked_fill_(found < 0, -1)
        done += len(found)
    return Nearest(out, 1.0 if exact else _recall(table, kept, out))


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


def _search(table: Tensor, queries: Tensor, k: int) -> Iterator[Tensor]:
    """The k nearest of these rows among all, block by block."""
    squares = table.square().sum(1)
    step = max(_LEAST_ROWS, _BLOCK_ELEMENTS // len(table))
    for start in range(0, len(queries), step):
        own = queries[start : start + step]
        # Euclidean order is that of |b|^2 - 2 a.b; cosine order is the same on the unit sphere.
        distance = torch.addmm(squares, table[own], table.T, alpha=-2.0)
        distance[torch.arange(len(own)), own] = torch.inf
        yield distance.topk(k, 1, largest=False).indices


def check_nearest(n: int, most_exact: int = MOST_EXACT) -> None:
    """Can the neighbours of so many rows be found?

    Raises:
        ConfigError: beyond `most_exact` rows where faiss is not installed.
    """
    if n > most_exact and importlib.util.find_spec("faiss") is None:
        raise not_installed("faiss-cpu", "large", f"for the neighbours of {n:,} entities")


def _search_lists(table: Tensor, k: int) -> Iterator[Tensor]:
    """The k nearest of all rows by faiss's inverted lists, block by block; -1 where those held fewer."""
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)  # It says which of its builds it loads.
    import faiss

    array = table.float().contiguous().numpy()
    n, dim = array.shape
    n_lists = max(1, int(4 * n**0.5))
    lists = faiss.IndexFlatL2(dim)
    # A digit of 4 bits for each number, or each two.
    n_digits = dim // 2 if dim >= _MANY and dim % 2 == 0 else dim
    codes = faiss.IndexIVFPQFastScan(lists, dim, n_lists, n_digits, 4)
    codes.by_residual = False  # One table of distances for all lists that are searched for a row.
    for clustering in (codes.cp, codes.pq.cp):
        clustering.seed, clustering.niter, clustering.max_points_per_centroid = 0, 5, _TRAIN_ROWS
    codes.pq.cp.max_points_per_centroid = _CODE_ROWS
    codes.nprobe = min(n_lists, _PROBED)
    codes.train(array)
    codes.add(array)
    for start in range(0, n, _ROWS):
        own = array[start : start + _ROWS]
        _, found = codes.search(own, min(n, _REFINED * (k + 1)))
        distance = np.empty(found.shape, np.float32)
        # Not IndexRefineFlat, which holds the table a second time.
        pointers = map(faiss.swig_ptr, (distance, own, array, found))
        faiss.fvec_L2sqr_by_idx(*pointers, dim, *found.shape)  # type: ignore[attr-defined]
        rows, order = torch.from_numpy(found), torch.from_numpy(distance)
        order[(rows < 0) | (rows == torch.arange(start, start + len(rows))[:, None])] = torch.inf
        nearest = order.topk(k, 1, largest=False)
        yield rows.gather(1, nearest.indices).masked_fill_(nearest.values.isinf(), -1)


def _recall(table: Tensor, kept: Tensor, found: Tensor) -> float:
    """The share of the exact neighbours of some rows, evenly spaced, that were found.

    Args:
        table: of the rows that are `kept`.
        kept: their numbers.
        found: of all rows.
    """
    queries = torch.arange(0, len(table), max(1, len(table) // _RECALL_ROWS))
    exact = kept[torch.cat([*_search(table, queries, found.shape[1])])]
    hits = (exact[:, :, None] == found[kept[queries]][:, None, :]).any(2)
    return float(hits.float().mean())
