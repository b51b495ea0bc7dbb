"""How many candidates are above the right answers and level with them, in one pass over a block of scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.exchange import RowExchange
from mohone.core.parallel import Array, in_chunks
from mohone.data.index import expand_ranges

_COMPILED = (torch.float32, torch.float64)
_LEAST = 64  # Answers that are worth a thread.


class Block(NamedTuple):
    """Scores of some entities for queries, and the right answers that are compared with them.

    Attributes:
        scores: `(n_queries, width)`; what is no candidate stands at minus infinity.
        gold: `(n,)` finite scores of right answers.
        rows: `(n,)` the query of each of them.
        number, start: of the block, and its first entity.
    """

    scores: Tensor
    gold: Tensor
    rows: Tensor
    number: int
    start: int


class Spans(NamedTuple):
    """Some entities of a block for each right answer: `members[first[i]:last[i]]`, ascending.

    Attributes:
        members: of all answers and blocks.
        first, last: `(n,)`.
    """

    members: Tensor
    first: Tensor
    last: Tensor


class Counts(NamedTuple):
    """Of n right answers: the candidates above, those level with it, and all of them; `(n,)` int64 each."""

    above: Tensor
    level: Tensor
    candidates: Tensor

    @classmethod
    def zeros(cls, n: int, device: torch.device) -> Counts:
        """Nothing has been counted."""
        return cls(*torch.zeros(3, n, dtype=torch.int64, device=device))

    def sum_over(self, exchange: RowExchange) -> None:
        """Add what other processes have counted among their entities."""
        for counted in self:
            exchange.sum(counted)

    def add(self, block: Block) -> None:
        """Count all entities of a block.

        Example:
            >>> counts = Counts.zeros(2, torch.device("cpu"))
            >>> scores, gold = torch.tensor([[1.0, 2.0, -torch.inf]]), torch.tensor([1.0, 2.0])
            >>> counts.add(Block(scores, gold, torch.tensor([0, 0]), 0, 0))
            >>> counts.above.tolist(), counts.level.tolist(), counts.candidates.tolist()
            ([1, 0], [1, 1], [2, 2])
        """
        if _is_compiled(block.scores):
            arrays = _arrays(*block[:3], *self)
            in_chunks(lambda start, stop: _count(start, stop, *arrays), len(block.gold), least=_LEAST)
            return
        scores, gold = block.scores[block.rows], block.gold[:, None]
        for counted, holds in zip(self, (scores > gold, scores == gold, scores > -torch.inf), strict=True):
            counted.add_(holds.sum(1))

    def add_spans(self, block: Block, spans: Spans) -> None:
        """Count some entities of a block, for each right answer its own."""
        if _is_compiled(block.scores):
            arrays = _arrays(*block[:3], *self, *spans)
            in_chunks(
                lambda start, stop: _count_spans(start, stop, *arrays, block.start),
                len(block.gold),
                least=_LEAST,
            )
            return
        of_answer, members = expand_ranges(spans.first, spans.last - spans.first, spans.members)
        scores, gold = block.scores[block.rows[of_answer], members - block.start], block.gold[of_answer]
        for counted, holds in zip(self, (scores > gold, scores == gold, scores > -torch.inf), strict=True):
            counted.add_(torch.bincount(of_answer[holds], minlength=len(block.gold)))


def _is_compiled(scores: Tensor) -> bool:
    return scores.device.type == "cpu" and scores.dtype in _COMPILED


def _arrays(*tensors: Tensor) -> list[Array]:
    return [tensor.detach().numpy() for tensor in tensors]


@njit(cache=True, nogil=True)
def _count(
    start: int,
    stop: int,
    scores: Array,
    gold: Array,
    rows: Array,
    above: Array,
    level: Array,
    candidates: Array,
) -> None:
    for i in range(start, stop):
        row, own = scores[rows[i]], gold[i]
        # Of 32 bits, so that a processor counts eight at once.
        higher, equal, there = np.uint32(0), np.uint32(0), np.uint32(0)
        for j in range(len(row)):
            higher = np.uint32(higher + np.uint32(row[j] > own))
            equal = np.uint32(equal + np.uint32(row[j] == own))
            there = np.uint32(there + np.uint32(row[j] > -np.inf))
        above[i] += higher
        level[i] += equal
        candidates[i] += there


@njit(cache=True, nogil=True)
def _count_spans(
    start: int,
    stop: int,
    scores: Array,
    gold: Array,
    rows: Array,
    above: Array,
    level: Array,
    candidates: Array,
    members: Array,
    first: Array,
    last: Array,
    offset: int,
) -> None:
    for i in range(start, stop):
        row, own = scores[rows[i]], gold[i]
        for at in range(first[i], last[i]):
            score = row[members[at] - offset]
            above[i] += score > own
            level[i] += score == own
            candidates[i] += score > -np.inf
