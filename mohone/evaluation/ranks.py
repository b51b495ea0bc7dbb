"""Ranks of the right answers, straight from score matrices and known-answer pairs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

Pairs = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Ranks:
    """Ranks of n queries' right answers among their candidates; 1 is best.

    Attributes:
        optimistic: `(n,)`, ties count for the right answer.
        pessimistic: `(n,)`, ties count against it.
        n_candidates: `(n,)`, candidates of the query, the right answer among them.
    """

    optimistic: Tensor
    pessimistic: Tensor
    n_candidates: Tensor

    @property
    def mean(self) -> Tensor:
        """`(n,)` float64: the expected rank when ties are broken by chance. The rank that is reported."""
        return (self.optimistic + self.pessimistic).to(torch.float64) / 2

    @classmethod
    def cat(cls, parts: list[Ranks]) -> Ranks:
        """The ranks of several batches, in their order."""
        return cls(
            torch.cat([part.optimistic for part in parts]),
            torch.cat([part.pessimistic for part in parts]),
            torch.cat([part.n_candidates for part in parts]),
        )


@dataclass(frozen=True)
class _Counts:
    """For each query: candidates scored above the right answer, level with it, and all counted."""

    above: Tensor
    level: Tensor
    total: Tensor

    def minus(self, other: _Counts) -> _Counts:
        return _Counts(self.above - other.above, self.level - other.level, self.total - other.total)

    def ranks(self, gold: Tensor) -> Ranks:
        """Ranks when the right answer itself is not among those counted; a NaN ranks last."""
        total = self.total + 1
        optimistic, pessimistic = self.above + 1, self.above + self.level + 1
        lost = torch.isnan(gold)
        return Ranks(torch.where(lost, total, optimistic), torch.where(lost, total, pessimistic), total)


def rank_all(scores: Tensor, answers: Tensor, known: Pairs) -> Ranks:
    """Rank each query's answer among all columns but its other known answers.

    The right answer's score is read from the same matrix as the others', so equal vectors tie exactly.

    Args:
        scores: `(n, n_entities)`, higher is better.
        answers: `(n,)` column of the right answer.
        known: rows and columns of all known answers; the right one may be among them.
    """
    gold = scores.gather(1, answers[:, None])
    above, level = _row_counts(scores > gold), _row_counts(scores == gold)
    everyone = _Counts(above, level, torch.full_like(above, scores.shape[1]))
    rows, columns = torch.arange(len(answers), device=scores.device), answers
    itself = _count_pairs(scores, gold, rows, columns)
    others = _count_pairs(scores, gold, *_without_answer(known, answers))
    return everyone.minus(itself).minus(others).ranks(gold[:, 0])


def rank_among(scores: Tensor, answers: Tensor, candidates: Pairs, known: Pairs) -> Ranks:
    """Rank each query's answer among its own candidates, of which the answer is always one.

    Args:
        scores: `(n, n_entities)`, higher is better.
        answers: `(n,)` column of the right answer.
        candidates: rows and columns of the candidates.
        known: rows and columns of those *candidates* that are known answers.
    """
    gold = scores.gather(1, answers[:, None])
    some = _count_pairs(scores, gold, *_without_answer(candidates, answers))
    others = _count_pairs(scores, gold, *_without_answer(known, answers))
    return some.minus(others).ranks(gold[:, 0])


def _row_counts(mask: Tensor) -> Tensor:
    """How many are true in each row."""
    # Bytes summed in 32 bits take a third of the time of summing bools.
    return mask.view(torch.uint8).sum(1, dtype=torch.int32).long()


def _without_answer(pairs: Pairs, answers: Tensor) -> Pairs:
    rows, columns = pairs
    keep = columns != answers[rows]
    return rows[keep], columns[keep]


def _count_pairs(scores: Tensor, gold: Tensor, rows: Tensor, columns: Tensor) -> _Counts:
    picked, reference = scores[rows, columns], gold[rows, 0]
    n = len(scores)
    return _Counts(
        torch.bincount(rows[picked > reference], minlength=n),
        torch.bincount(rows[picked == reference], minlength=n),
        torch.bincount(rows, minlength=n),
    )
