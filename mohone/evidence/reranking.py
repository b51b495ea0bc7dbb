"""The best candidates ranked anew, by values that are too dear for all; all others keep their order below."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mohone.evaluation.best_columns import BestSoFar
from mohone.evidence.expert import Expert
from mohone.kge.base import BlockScores

BLOCK = 2048  # Candidates of a block.
Weighted = tuple[Expert, Tensor]  # An expert, and the weights of its values: `(batch, n_values)`.


def dense_values(experts: Sequence[Weighted], known: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
    """The weighted values of candidates `(n, k)` by some experts, each with its weights: `(n, k)`."""
    parts = [(expert.at(known, relation, candidates) * own[:, None]).sum(2) for expert, own in experts]
    return torch.stack(parts).sum(0)


def sinking(before: Tensor, after: Tensor) -> Tensor:
    """By how much all others sink: `(n, 1)`, for scores `(n, k)` of the best before and after.

    No other is above the lowest of the best; all sink by as much as the worst of the best sank.
    """
    return (before.min(1, keepdim=True).values - after.min(1, keepdim=True).values).clamp(min=0)


def reranking(score: BlockScores, best: BestSoFar, values: Tensor) -> BlockScores:
    """The scores of blocks of candidates where the best have other ones.

    Args:
        score: of all, as they were.
        best: those that are ranked anew, and their scores as they were.
        values: `(n, k)` their scores.
    """
    sink = sinking(best.values, values)
    ids, order = best.ids.sort(1)
    values = values.gather(1, order)

    def scored(candidates: Tensor) -> Tensor:
        scores = score(candidates) - sink
        if torch.equal(candidates, torch.arange(int(candidates[0]), int(candidates[0]) + len(candidates))):
            rows, places = ((ids >= candidates[0]) & (ids <= candidates[-1])).nonzero().T
            scores[rows, ids[rows, places] - candidates[0]] = values[rows, places]
            return scores
        places = torch.searchsorted(ids, candidates.expand(len(ids), -1).contiguous())
        places.clamp_(max=ids.shape[1] - 1)
        return torch.where(ids.gather(1, places) == candidates, values.gather(1, places), scores)

    return scored
