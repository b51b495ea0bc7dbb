"""The highest scores of each query, of candidates that come block by block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array, in_chunks

_SEGMENT = 512  # Scores that are compared at once: most segments have none of the best.
_LEAST = 8  # Queries that are worth a thread.


class Sorted(NamedTuple):
    """Candidates of each query, best first, equal ones in their order.

    Attributes:
        ids: `(n, k)`; 0 after the last.
        scores: `(n, k)` float32; minus infinity after the last.
    """

    ids: Tensor
    scores: Tensor


class BestSoFar:
    """The k best of each of n queries; of equals those of lower numbers. Minus infinity is no candidate.

    They are kept as heaps whose root is the worst: a score that is below it costs a comparison.

    Example:
        >>> best = BestSoFar(1, 2)
        >>> for first, scores in ((0, [1.0, 3.0]), (2, [2.0, 3.0])):
        ...     best.add(torch.tensor([scores]), first)
        >>> best.sorted().ids.tolist(), best.sorted().scores.tolist()
        ([[1, 3]], [[3.0, 3.0]])
    """

    def __init__(self, n: int, k: int) -> None:
        self._scores, self._ids = np.full((n, k), -np.inf, np.float32), np.zeros((n, k), np.int64)
        self._sizes = np.zeros(n, np.int64)

    def begin_with(self, ids: Tensor, scores: Tensor) -> None:
        """Take one candidate of each query `(n,)`, before all others."""
        self._ids[:, 0], self._scores[:, 0], self._sizes[:] = ids.numpy(), scores.numpy(), 1

    def add(self, scores: Tensor, first: int) -> None:
        """Take a block's.

        Args:
            scores: `(n, width)` float32 on the CPU, without gaps.
            first: number of the first candidate.
        """
        arrays = self._scores, self._ids, self._sizes, scores.numpy(), first
        in_chunks(lambda start, stop: _keep_best(*arrays, start, stop), len(scores), least=_LEAST)

    def sorted(self) -> Sorted:
        """What was kept."""
        ids, scores = torch.from_numpy(self._ids), torch.from_numpy(self._scores)
        by_number = ids.argsort(1)
        scores, order = scores.gather(1, by_number).sort(dim=1, descending=True, stable=True)
        return Sorted(ids.gather(1, by_number).gather(1, order), scores)


@njit(cache=True, nogil=True)
def _keep_best(
    heaps: Array, ids: Array, sizes: Array, scores: Array, first: int, start: int, stop: int
) -> None:
    k = heaps.shape[1]
    for i in range(start, stop):
        heap, own, size = heaps[i], ids[i], sizes[i]
        for begin in range(0, scores.shape[1], _SEGMENT):
            segment = scores[i, begin : begin + _SEGMENT]
            if size == k and not _reaches(segment, heap[0]):
                continue
            for j in range(len(segment)):
                score = segment[j]
                if (size < k or score >= heap[0]) and score > -np.inf:
                    size = _push(heap, own, size, score, first + begin + j)
        sizes[i] = size


@njit(cache=True, nogil=True)
def _reaches(scores: Array, least: Any) -> Any:
    """Is one of the scores not below the least that is kept?"""
    found = np.uint32(0)  # Counted, in 32 bits: a processor does many at once.
    for j in range(len(scores)):
        found = np.uint32(found + np.uint32(scores[j] >= least))
    return found > 0


@njit(cache=True, nogil=True, inline="always")
def _worse(score: Any, number: int, other_score: Any, other: int) -> Any:
    return score < other_score or (score == other_score and number > other)


@njit(cache=True, nogil=True)
def _push(heap: Array, ids: Array, size: int, score: Any, number: int) -> Any:
    """Add to the heap, in place of its worst if it is full; its size after."""
    if size < len(heap):
        at = size
        while at > 0:
            up = (at - 1) >> 1
            if not _worse(score, number, heap[up], ids[up]):
                break
            heap[at], ids[at] = heap[up], ids[up]
            at = up
        heap[at], ids[at] = score, number
        return size + 1
    if _worse(score, number, heap[0], ids[0]):
        return size
    at = 0
    while 2 * at + 1 < size:
        down = 2 * at + 1
        if down + 1 < size and _worse(heap[down + 1], ids[down + 1], heap[down], ids[down]):
            down += 1
        if not _worse(heap[down], ids[down], score, number):
            break
        heap[at], ids[at] = heap[down], ids[down]
        at = down
    heap[at], ids[at] = score, number
    return size
