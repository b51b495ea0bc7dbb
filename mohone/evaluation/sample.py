"""A fixed part of what could be ranked, drawn by lot, and what it says of the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.evaluation.ranks import Ranks

_NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Sample:
    """How much of a split is ranked.

    What is drawn depends on the seed and on the data as sorted by names, never on the order of lines.

    Attributes:
        queries: so many; None: all.
        candidates: so many entities, the same for all queries, that the right answer is compared with; None:
            all. Ranks are then estimates.
        seed: of the draw.
    """

    queries: int | None = None
    candidates: int | None = None
    seed: int = 0

    def draw_queries(self, n: int) -> Tensor:
        """Which of n queries, ascending."""
        return _draw(n, self.queries, self.seed)

    def draw_entities(self, n: int) -> Tensor:
        """Which of n entities are candidates, ascending."""
        return _draw(n, self.candidates, self.seed + 1)


class Estimate(NamedTuple):
    """The mean reciprocal rank of a split by a sample of its queries.

    Attributes:
        mrr: of the sample.
        low, high: of the 95 % confidence interval of that of all queries; the same number if all were asked.
        n_queries, of: asked, of so many.
    """

    mrr: float
    low: float
    high: float
    n_queries: int
    of: int


def estimate(ranks: Ranks, of: int) -> Estimate:
    """What the ranks of queries that were drawn from so many say of all.

    The interval is that of a mean, by the normal distribution, and the narrower the fewer queries were not
    drawn: `1.96 s sqrt((1 - n / N) / n)`.

    Example:
        >>> rank = torch.tensor([1, 2, 4, 4])
        >>> found = estimate(Ranks(rank, rank, rank), of=16)
        >>> [round(number, 3) for number in found[:3]]
        [0.5, 0.2, 0.8]
    """
    each = ranks.mean.reciprocal()
    n, mrr = len(each), float(each.mean())
    spread = float(each.std()) if n > 1 else 0.0
    margin = _NORMAL_95 * spread * math.sqrt(max(0.0, 1 - n / of) / n)
    return Estimate(mrr, max(0.0, mrr - margin), min(1.0, mrr + margin), n, of)


def extrapolate(ranks: Ranks, n_candidates: Tensor) -> Ranks:
    """Ranks among all candidates, as those among drawn ones let expect.

    Args:
        ranks: of n queries, among the drawn candidates.
        n_candidates: `(n,)` of all, the right answers among them.

    Example:
        Two of 9 others are above the right answer; so are 20 of 90, one expects:

        >>> third = torch.tensor([3])
        >>> extrapolate(Ranks(third, third, torch.tensor([10])), torch.tensor([91])).mean.tolist()
        [21.0]
    """
    factor = (n_candidates - 1) / (ranks.n_candidates - 1).clamp(min=1)

    def stretched(rank: Tensor) -> Tensor:
        return 1 + ((rank - 1) * factor).round().long()

    return Ranks(stretched(ranks.optimistic), stretched(ranks.pessimistic), n_candidates)


def _draw(n: int, size: int | None, seed: int) -> Tensor:
    if size is None or size >= n:
        return torch.arange(n)
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(n, generator=generator)[:size].sort().values
