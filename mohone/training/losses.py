"""Losses and regularisers, as functions of scores and vectors; every loss is a sum over queries."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.training.fused import AnswerLogistic, AnswerSoftmax


def answer_softmax(
    scores: Tensor,
    rows: Tensor,
    answers: Tensor,
    row_weight: Tensor,
    answer_weight: Tensor | None = None,
    smoothing: float = 0.0,
    inverse_temperature: float = 1.0,
    left_out: Tensor | None = None,
) -> Tensor:
    """Summed cross-entropy of answers against the softmax over the candidates of their query.

    `sum_j w_j [logsumexp_c s(rows_j, c) - (1 - e) s(rows_j, answers_j) - e mean_c s(rows_j, c)]`

    Args:
        scores: `(batch, n_candidates)`.
        rows: `(n_answers,)` query of each answer.
        answers: `(n_answers,)` column of each answer.
        row_weight: `(batch,)`, the summed weight of each query's answers.
        answer_weight: `(n_answers,)`; None: all 1.
        smoothing: the share e of each target spread evenly over the candidates.
        inverse_temperature: factor of the scores.
        left_out: `(batch, n_candidates)` of bool: what is no candidate of a row.

    Example:
        One query with its answer in column 2; the plain formula:

        >>> scores, row, answer = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([0]), torch.tensor([2])
        >>> answer_softmax(scores, row, answer, row_weight=torch.ones(1))
        tensor(1.4076)
        >>> scores[0].logsumexp(0) - scores[0, 2]
        tensor(1.4076)
    """
    loss: Tensor = AnswerSoftmax.apply(  # type: ignore[no-untyped-call]
        scores, rows, answers, row_weight, answer_weight, smoothing, inverse_temperature, left_out
    )
    return loss


def answer_logistic(
    scores: Tensor,
    rows: Tensor,
    answers: Tensor,
    smoothing: float = 0.0,
    scale: float = 1.0,
    answer_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross-entropy of every candidate, answer or not: a mean over candidates, a sum over queries.

    The target of an answer is `1 - e + e / n_candidates`, of another candidate `e / n_candidates`.

    Args:
        scores: `(batch, n_candidates)`.
        rows: `(n_answers,)` query of each answer.
        answers: `(n_answers,)` column of each answer, no pair twice.
        smoothing: e.
        scale: factor of the sum.
        answer_weight: `(n_answers,)` how often the term of each answer counts; None: all once.

    Example:
        One query with its answer in column 2; the plain formula:

        >>> scores, row, answer = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([0]), torch.tensor([2])
        >>> answer_logistic(scores, row, answer)
        tensor(1.4963)
        >>> F.binary_cross_entropy_with_logits(scores[0], torch.tensor([0.0, 0.0, 1.0]))
        tensor(1.4963)
    """
    loss: Tensor = AnswerLogistic.apply(  # type: ignore[no-untyped-call]
        scores, rows, answers, smoothing, scale
    )
    if answer_weight is None:
        return loss
    n, gold = scores.shape[1], scores[rows, answers].to(loss.dtype)
    each = F.softplus(gold) - (1 - smoothing + smoothing / n) * gold
    return loss + scale / n * ((answer_weight - 1) * each).sum()


def margin_ranking(
    scores: Tensor, answers: Tensor, left_out: Tensor, margin: float, weight: Tensor | None = None
) -> Tensor:
    """`sum_i mean_j max(0, margin - s_ia + s_ij)` over the negatives j of query i [Bordes et al. 2013].

    Args:
        scores: `(batch, n_candidates)`.
        answers: `(batch,)` the column a of each query's right answer.
        left_out: `(batch, n_candidates)` of bool: what is no negative of a query, the answer apart.
        margin: by which the answer should lead.
        weight: `(batch,)` how much each query counts; None: all 1.

    Example:
        >>> scores, answer = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([2])
        >>> margin_ranking(scores, answer, torch.zeros(1, 3, dtype=torch.bool), margin=1.0)
        tensor(1.)
        >>> (max(0, 1 - 2 + 1) + max(0, 1 - 2 + 3)) / 2
        1.0
    """
    gold, negative = _gold_and_negatives(scores, answers, left_out)
    hinges = F.relu(margin - gold[:, None] + scores)
    return _summed(_mean_of(hinges, negative), weight)


def logistic(scores: Tensor, answers: Tensor, left_out: Tensor, weight: Tensor | None = None) -> Tensor:
    """`sum_i log(1 + exp(-s_ia)) + mean_j log(1 + exp(s_ij))` [Trouillon et al. 2016].

    Arguments as in `margin_ranking`.

    Example:
        >>> scores, answer = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([2])
        >>> logistic(scores, answer, torch.zeros(1, 3, dtype=torch.bool))
        tensor(2.3079)
        >>> F.softplus(-scores[0, 2]) + F.softplus(scores[0, :2]).mean()
        tensor(2.3079)
    """
    gold, negative = _gold_and_negatives(scores, answers, left_out)
    return _summed(F.softplus(-gold) + _mean_of(F.softplus(scores), negative), weight)


def self_adversarial(
    scores: Tensor,
    answers: Tensor,
    left_out: Tensor,
    margin: float,
    inverse_temperature: float,
    weight: Tensor | None = None,
) -> Tensor:
    """Logistic loss whose negatives weigh by a softmax of their scores [Sun et al., ICLR 2019, eq. 5-6].

    `sum_i -log sigma(margin + s_ia) - sum_j p_ij log sigma(-margin - s_ij)`, `p` without gradient; see
    `margin_ranking`.

    Example:
        >>> scores, answer = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([2])
        >>> nothing = torch.zeros(1, 3, dtype=torch.bool)
        >>> self_adversarial(scores, answer, nothing, margin=0.0, inverse_temperature=1.0)
        tensor(2.9687)
        >>> negatives = scores[0, :2]
        >>> F.softplus(-scores[0, 2]) + (negatives.softmax(0) * F.softplus(negatives)).sum()
        tensor(2.9687)
    """
    gold, negative = _gold_and_negatives(scores, answers, left_out)
    with torch.no_grad():
        exponents = (inverse_temperature * scores.detach()).masked_fill(~negative, float("-inf"))
        weights = torch.softmax(exponents, 1).nan_to_num(0.0)  # NaN where a query has no negative left.
    each = F.softplus(-margin - gold) + (weights * F.softplus(margin + scores)).sum(1)
    return _summed(each, weight)


def _gold_and_negatives(scores: Tensor, answers: Tensor, left_out: Tensor) -> tuple[Tensor, Tensor]:
    """The right answers' scores `(batch,)`, and which scores are negatives' `(batch, n_candidates)`."""
    column = answers[:, None]
    return scores.gather(1, column)[:, 0], (~left_out).scatter_(1, column, False)


def _mean_of(values: Tensor, mask: Tensor) -> Tensor:
    """The mean of each row's masked values, 0 where there are none: `(batch,)`."""
    return (values * mask).sum(1) / mask.sum(1).clamp(min=1)


def power_penalty(squares: Tensor, order: int, weight: Tensor | None = None) -> Tensor:
    """`sum_i weight_i sum_k |v_ik|^order` from squared moduli: N3 [Lacroix et al. 2018] at 3, L2 at 2.

    Args:
        squares: `(batch, n_components)`.
        order: the power of the moduli.
        weight: `(batch,)`; None: all 1.

    Example:
        >>> power_penalty(torch.tensor([[4.0, 9.0]]), order=3)
        tensor(35.)
    """
    powers = squares if order == 2 else squares.pow(order / 2)
    return _summed(powers.sum(1), weight)


def _summed(each: Tensor, weight: Tensor | None) -> Tensor:
    """The sum of values by their weights (None: 1)."""
    return each.sum() if weight is None else (each * weight).sum()
