"""Softmax cross-entropy and the regularisers, as functions of scores and vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class _AnswerSoftmax(torch.autograd.Function):
    """The loss of `answer_softmax`, its gradient formed in the forward pass: one buffer, one softmax."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        rows: Tensor,
        answers: Tensor,
        smoothing: float,
        factor: float,
        left_out: Tensor | None,
    ) -> Tensor:
        weight = torch.bincount(rows, minlength=len(scores)).to(scores.dtype)
        top = scores.amax(1, keepdim=True)
        gradient = (scores - top).mul_(factor).exp_()
        if left_out is not None:
            gradient.masked_fill_(left_out, 0.0)
        total = gradient.sum(1)
        normaliser = total.log() + factor * top[:, 0]
        loss = (weight * normaliser).sum() - (1 - smoothing) * factor * scores[rows, answers].sum()
        gradient.mul_((factor * weight / total)[:, None])
        if smoothing:
            counted = torch.ones_like(scores) if left_out is None else (~left_out).to(scores.dtype)
            share = smoothing * factor * weight / counted.sum(1)
            loss -= (share * (scores * counted).sum(1)).sum()
            gradient.addcmul_(counted, share[:, None], value=-1.0)
        flat = rows * scores.shape[1] + answers
        gradient.view(-1).index_add_(0, flat, gradient.new_full((len(rows),), factor * (smoothing - 1)))
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0], None, None, None, None, None


def answer_softmax(
    scores: Tensor,
    rows: Tensor,
    answers: Tensor,
    smoothing: float = 0.0,
    inverse_temperature: float = 1.0,
    left_out: Tensor | None = None,
) -> Tensor:
    """Summed cross-entropy of answers against the softmax over the candidates of their query.

    `sum_j [logsumexp_c s(rows_j, c) - (1 - e) s(rows_j, answers_j) - e mean_c s(rows_j, c)]`

    A query may have any number of answers, each counts as one example.

    Args:
        scores: `(batch, n_candidates)`.
        rows: `(n_answers,)` query of each answer.
        answers: `(n_answers,)` column of each answer.
        smoothing: the share e of each target spread evenly over the candidates.
        inverse_temperature: factor of the scores.
        left_out: `(batch, n_candidates)` of bool: what is no candidate of a row; scored no higher than the
            row's best candidate, or nearly so.
    """
    loss: Tensor = _AnswerSoftmax.apply(  # type: ignore[no-untyped-call]
        scores, rows, answers, smoothing, inverse_temperature, left_out
    )
    return loss


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
