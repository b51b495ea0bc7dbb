"""The filter of evaluation: a query's other known answers are no candidates."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

Pairs = tuple[Tensor, Tensor]


class MaskedScores(NamedTuple):
    """Scores without the known answers, which stand at minus infinity: ranks in any setting are counts.

    Attributes:
        scores: `(n, n_entities)`.
        gold: `(n, 1)` scores of the right answers, read from the same matrix, so that equal vectors tie.
        n_candidates: `(n,)` of each query: the right answer and all that is no known answer.
        scratch: `(2, n * n_entities)`: memory of one size for blocks of all sizes, or the heap would grow.
    """

    scores: Tensor
    gold: Tensor
    n_candidates: Tensor
    scratch: Tensor


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
    return MaskedScores(scores, gold, scores.shape[1] - n_others, scores.new_empty(2, scores.numel()))
