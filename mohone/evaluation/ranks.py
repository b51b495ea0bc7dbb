"""Ranks of the right answers, straight from score matrices and known-answer pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from mohone.evaluation.known_answers import MaskedScores, Pairs


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

    @classmethod
    def empty(cls, n: int) -> Ranks:
        """Room for n queries, to be `put`."""
        return cls(*torch.empty(3, n, dtype=torch.int64))

    def put(self, places: Tensor, ranks: Ranks) -> None:
        """Write the ranks of the queries at `places`, from any device."""
        for ours, theirs in (
            (self.optimistic, ranks.optimistic),
            (self.pessimistic, ranks.pessimistic),
            (self.n_candidates, ranks.n_candidates),
        ):
            ours[places] = theirs.to(ours.device)

    @classmethod
    def cat(cls, parts: list[Ranks]) -> Ranks:
        """The ranks of several batches, in their order."""
        return cls(
            torch.cat([part.optimistic for part in parts]),
            torch.cat([part.pessimistic for part in parts]),
            torch.cat([part.n_candidates for part in parts]),
        )


def rank_all(masked: MaskedScores) -> Ranks:
    """Rank each query's answer among all candidates.

    Example:
        Of four candidates the second is right; the third is known to be right, too, and the fourth ties:

        >>> scores = torch.tensor([[0.9, 0.5, 0.8, 0.5]])
        >>> known = torch.tensor([0, 0]), torch.tensor([1, 2])
        >>> from mohone.evaluation.known_answers import mask_known
        >>> ranks = rank_all(mask_known(scores, torch.tensor([1]), known))
        >>> ranks.optimistic, ranks.pessimistic, ranks.mean, ranks.n_candidates
        (tensor([2]), tensor([3]), tensor([2.5000], dtype=torch.float64), tensor([3]))
    """
    return _ranks(masked.scores, masked.gold, masked.n_candidates, masked.scratch[1])


def rank_among(masked: MaskedScores, rows: slice, columns: Tensor) -> Ranks:
    """Rank the answers of the queries `rows` among the entities `columns` and the answer itself."""
    scores, gold = masked.scores[rows], masked.gold[rows]
    block = _part(masked.scratch[0], len(scores), len(columns))
    torch.index_select(scores, 1, columns, out=block)
    minus_infinity = gold.new_full((), -torch.inf)
    n_candidates = 1 + _count(torch.ne, block, minus_infinity, masked.scratch[1])
    return _ranks(block, gold, n_candidates, masked.scratch[1])


def rank_without(masked: MaskedScores, ranks: Ranks, left_out: Pairs) -> Ranks:
    """The ranks when further candidates are left out.

    Args:
        masked: the scores of n queries.
        ranks: of the queries among all candidates, see `rank_all`.
        left_out: rows and columns of what is left out, no pair twice; the right answers and the known ones
            among them do not count.
    """
    rows, columns = left_out
    scores = masked.scores[rows, columns]
    gold = masked.gold[rows, 0]

    def fewer(counts: Tensor, mask: Tensor) -> Tensor:
        return counts - torch.bincount(rows[mask], minlength=len(counts))

    n_candidates = fewer(ranks.n_candidates, scores > -torch.inf)
    optimistic = torch.minimum(fewer(ranks.optimistic, scores > gold), n_candidates)
    pessimistic = torch.minimum(fewer(ranks.pessimistic, scores >= gold), n_candidates)
    return Ranks(optimistic, pessimistic, n_candidates)


def _ranks(block: Tensor, gold: Tensor, n_candidates: Tensor, scratch: Tensor) -> Ranks:
    """Ranks when the right answer is not in the block; a NaN ranks last."""
    optimistic = 1 + _count(torch.gt, block, gold, scratch)
    pessimistic = optimistic + _count(torch.eq, block, gold, scratch)
    lost = torch.isnan(gold[:, 0])
    last = torch.where(lost, n_candidates, optimistic), torch.where(lost, n_candidates, pessimistic)
    return Ranks(*last, n_candidates)


def _count(compare: Callable[..., Tensor], block: Tensor, other: Tensor, scratch: Tensor) -> Tensor:
    """In how many columns the comparison holds: `(n,)`; exact up to 2^24 columns."""
    # Written as numbers 0 and 1 and summed: bools take four times as long to make and to count.
    return compare(block, other, out=_part(scratch, *block.shape)).sum(1).long()


def _part(scratch: Tensor, n_rows: int, n_columns: int) -> Tensor:
    return scratch[: n_rows * n_columns].view(n_rows, n_columns)
