"""Ranks of the right answers, straight from score matrices and known-answer pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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

    def __getitem__(self, queries: Tensor) -> Ranks:
        """The ranks of some queries, or of all in another order."""
        return Ranks(self.optimistic[queries], self.pessimistic[queries], self.n_candidates[queries])

    def to(self, device: torch.device | str) -> Ranks:
        """The same on a device."""
        return Ranks(self.optimistic.to(device), self.pessimistic.to(device), self.n_candidates.to(device))

    @classmethod
    def cat(cls, parts: list[Ranks]) -> Ranks:
        """The ranks of several batches, in their order."""
        return cls(
            torch.cat([part.optimistic for part in parts]),
            torch.cat([part.pessimistic for part in parts]),
            torch.cat([part.n_candidates for part in parts]),
        )


class MaskedScores(NamedTuple):
    """Scores without the known answers, which stand at minus infinity: ranks in any setting are counts.

    Attributes:
        scores: `(n, n_entities)`.
        gold: `(n, 1)` scores of the right answers, read from the same matrix, so that equal vectors tie.
        n_candidates: `(n,)` of each query: the right answer and all that is no known answer.
    """

    scores: Tensor
    gold: Tensor
    n_candidates: Tensor


def mask_known(scores: Tensor, answers: Tensor, known: Pairs) -> MaskedScores:
    """Take the known answers out of the candidates.

    Args:
        scores: `(n, n_entities)`, higher is better, finite or NaN; overwritten.
        answers: `(n,)` column of the right answer.
        known: rows and columns of all known answers, no pair twice; the right one may be among them.
    """
    rows, columns = known
    gold = scores.gather(1, answers[:, None])
    n_others = torch.bincount(rows[columns != answers[rows]], minlength=len(answers))
    scores[rows, columns] = -torch.inf
    scores.scatter_(1, answers[:, None], -torch.inf)
    return MaskedScores(scores, gold, scores.shape[1] - n_others)


def rank_all(masked: MaskedScores) -> Ranks:
    """Rank each query's answer among all candidates."""
    return _ranks(masked.scores, masked.gold, masked.n_candidates)


def rank_among(masked: MaskedScores, rows: slice, columns: Tensor) -> Ranks:
    """Rank the answers of the queries `rows` among the entities `columns` and the answer itself."""
    block = masked.scores[rows].index_select(1, columns)
    return _ranks(block, masked.gold[rows], 1 + _row_counts(block != -torch.inf))


def _ranks(block: Tensor, gold: Tensor, n_candidates: Tensor) -> Ranks:
    """Ranks when the right answer is not in the block; a NaN ranks last."""
    optimistic = 1 + _row_counts(block > gold)
    pessimistic = optimistic + _row_counts(block == gold)
    lost = torch.isnan(gold[:, 0])
    last = torch.where(lost, n_candidates, optimistic), torch.where(lost, n_candidates, pessimistic)
    return Ranks(*last, n_candidates)


def _row_counts(mask: Tensor) -> Tensor:
    """How many are true in each row."""
    # Bytes summed in 32 bits take a third of the time of summing bools.
    return mask.view(torch.uint8).sum(1, dtype=torch.int32).long()
