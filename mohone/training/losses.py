"""Losses and regularisers, as functions of scores and vectors; every loss is a sum over queries."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.core.blocks import row_blocks


class _AnswerSoftmax(torch.autograd.Function):
    """The loss of `answer_softmax`, its gradient formed in the forward pass, block by block in the cache."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        rows: Tensor,
        answers: Tensor,
        row_weight: Tensor,
        answer_weight: Tensor | None,
        smoothing: float,
        factor: float,
        left_out: Tensor | None,
    ) -> Tensor:
        gradient = torch.empty_like(scores)
        loss = scores.new_zeros((), dtype=torch.promote_types(scores.dtype, torch.float32))
        for part in row_blocks(scores):
            block, weight = scores[part].to(loss.dtype), factor * row_weight[part].to(loss.dtype)
            absent = None if left_out is None else left_out[part]
            ranked = block if absent is None else block.masked_fill(absent, -math.inf)
            top = ranked.amax(1, keepdim=True)
            grown = gradient[part] if scores.dtype == loss.dtype else torch.empty_like(block)
            torch.sub(ranked, top, out=grown)
            if factor != 1.0:
                grown.mul_(factor)
            grown.exp_()
            total = grown.sum(1)
            loss += (weight * (total.log() / factor + top[:, 0])).sum()
            grown.mul_((weight / total)[:, None])
            if smoothing:
                loss -= _smooth(block, grown, smoothing * weight, absent)
            if grown.dtype != gradient.dtype:
                gradient[part] = grown
        gold = scores[rows, answers].to(loss.dtype)
        pull = torch.ones_like(gold) if answer_weight is None else answer_weight.to(loss.dtype)
        pull = (1 - smoothing) * factor * pull
        loss -= (pull * gold).sum()
        gradient.view(-1).index_add_(0, rows * scores.shape[1] + answers, -pull.to(scores.dtype))
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Tensor | None, ...]:
        return (
            _times(ctx.saved_tensors[0], grad_outputs[0]),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
        )


def _times(gradient: Tensor, factor: Tensor) -> Tensor:
    """The gradient times a number, which is 1 as a rule: then a pass over the scores is saved."""
    if factor.device.type == "cpu" and factor.item() == 1.0:  # Elsewhere looking would cost more.
        return gradient
    return gradient * factor.to(gradient.dtype)


def _smooth(block: Tensor, gradient: Tensor, weight: Tensor, absent: Tensor | None) -> Tensor:
    """Subtract from `gradient` the evenly spread share of the targets; returns its part of the loss."""
    if absent is None:
        share = weight / block.shape[1]
        gradient.sub_(share[:, None])
        return (share * block.sum(1)).sum()
    counted = (~absent).to(block.dtype)
    share = weight / counted.sum(1)
    gradient.addcmul_(counted, share[:, None], value=-1.0)
    return (share * (block * counted).sum(1)).sum()


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
    """
    loss: Tensor = _AnswerSoftmax.apply(  # type: ignore[no-untyped-call]
        scores, rows, answers, row_weight, answer_weight, smoothing, inverse_temperature, left_out
    )
    return loss


class _AnswerLogistic(torch.autograd.Function):
    """The loss of `answer_logistic`, its gradient formed in the forward pass, block by block."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, rows: Tensor, answers: Tensor, smoothing: float, scale: float
    ) -> Tensor:
        n = scores.shape[1]
        gradient = torch.empty_like(scores)
        loss = scores.new_zeros((), dtype=torch.promote_types(scores.dtype, torch.float32))
        for part in row_blocks(scores):
            block = scores[part].to(loss.dtype)
            loss += (F.softplus(block).sum(1) - (smoothing / n) * block.sum(1)).sum()
            gradient[part] = torch.sigmoid(block).sub_(smoothing / n).mul_(scale / n)
        loss -= (1 - smoothing) * scores[rows, answers].to(loss.dtype).sum()
        pull = gradient.new_full((len(rows),), (smoothing - 1) * scale / n)
        gradient.view(-1).index_add_(0, rows * n + answers, pull)
        ctx.save_for_backward(gradient)
        return loss * (scale / n)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Tensor | None, ...]:
        return _times(ctx.saved_tensors[0], grad_outputs[0]), None, None, None, None


def answer_logistic(
    scores: Tensor, rows: Tensor, answers: Tensor, smoothing: float = 0.0, scale: float = 1.0
) -> Tensor:
    """Binary cross-entropy of every candidate, answer or not: a mean over candidates, a sum over queries.

    The target of an answer is `1 - e + e / n_candidates`, of another candidate `e / n_candidates`.

    Args:
        scores: `(batch, n_candidates)`.
        rows: `(n_answers,)` query of each answer.
        answers: `(n_answers,)` column of each answer, no pair twice.
        smoothing: e.
        scale: factor of the sum.
    """
    loss: Tensor = _AnswerLogistic.apply(  # type: ignore[no-untyped-call]
        scores, rows, answers, smoothing, scale
    )
    return loss


def margin_ranking(scores: Tensor, answers: Tensor, left_out: Tensor, margin: float) -> Tensor:
    """`sum_i mean_j max(0, margin - s_ia + s_ij)` over the negatives j of query i [Bordes et al. 2013].

    Args:
        scores: `(batch, n_candidates)`.
        answers: `(batch,)` the column a of each query's right answer.
        left_out: `(batch, n_candidates)` of bool: what is no negative of a query, the answer apart.
        margin: by which the answer should lead.
    """
    gold, negative = _gold_and_negatives(scores, answers, left_out)
    hinges = F.relu(margin - gold[:, None] + scores)
    return _mean_of(hinges, negative).sum()


def logistic(scores: Tensor, answers: Tensor, left_out: Tensor) -> Tensor:
    """`sum_i log(1 + exp(-s_ia)) + mean_j log(1 + exp(s_ij))` [Trouillon et al. 2016].

    Arguments as in `margin_ranking`.
    """
    gold, negative = _gold_and_negatives(scores, answers, left_out)
    return (F.softplus(-gold) + _mean_of(F.softplus(scores), negative)).sum()


def self_adversarial(
    scores: Tensor, answers: Tensor, left_out: Tensor, margin: float, inverse_temperature: float
) -> Tensor:
    """Logistic loss whose negatives weigh by a softmax of their scores [Sun et al., ICLR 2019, eq. 5-6].

    `sum_i -log sigma(margin + s_ia) - sum_j p_ij log sigma(-margin - s_ij)`, `p` without gradient; see
    `margin_ranking`.
    """
    gold, negative = _gold_and_negatives(scores, answers, left_out)
    with torch.no_grad():
        exponents = (inverse_temperature * scores.detach()).masked_fill(~negative, float("-inf"))
        weights = torch.softmax(exponents, 1).nan_to_num(0.0)  # NaN where a query has no negative left.
    return (F.softplus(-margin - gold) + (weights * F.softplus(margin + scores)).sum(1)).sum()


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
    """
    powers = squares if order == 2 else squares.pow(order / 2)
    each = powers.sum(1)
    return each.sum() if weight is None else (each * weight).sum()
