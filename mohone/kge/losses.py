"""Softmax cross-entropy and the regularisers, as functions of scores and vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class _AnswerSoftmax(torch.autograd.Function):
    """The loss of `answer_softmax`, its gradient formed in the forward pass: one buffer, one softmax."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, rows: Tensor, answers: Tensor, smoothing: float) -> Tensor:
        n_candidates = scores.shape[1]
        weight = torch.bincount(rows, minlength=len(scores)).to(scores.dtype)
        top = scores.amax(1, keepdim=True)
        gradient = (scores - top).exp_()
        total = gradient.sum(1)
        normaliser = total.log() + top[:, 0]
        loss = (weight * normaliser).sum() - (1 - smoothing) * scores[rows, answers].sum()
        gradient.mul_((weight / total)[:, None])
        if smoothing:
            loss -= smoothing * (weight * scores.mean(1)).sum()
            gradient.sub_((weight * (smoothing / n_candidates))[:, None])
        flat = rows * n_candidates + answers
        gradient.view(-1).index_add_(0, flat, gradient.new_full((len(rows),), smoothing - 1))
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0], None, None, None


def answer_softmax(scores: Tensor, rows: Tensor, answers: Tensor, smoothing: float = 0.0) -> Tensor:
    """Summed cross-entropy of answers against the softmax over all candidates of their query.

    `sum_j [logsumexp_c s(rows_j, c) - (1 - e) s(rows_j, answers_j) - e mean_c s(rows_j, c)]`

    A query may have any number of answers, each counts as one example.

    Args:
        scores: `(batch, n_candidates)`.
        rows: `(n_answers,)` query of each answer.
        answers: `(n_answers,)` column of each answer.
        smoothing: the share e of each target spread evenly over all candidates.
    """
    loss: Tensor = _AnswerSoftmax.apply(scores, rows, answers, smoothing)  # type: ignore[no-untyped-call]
    return loss


def masked_softmax(scores: Tensor, wrong: Tensor, smoothing: float = 0.0) -> Tensor:
    """Mean cross-entropy where column i is the answer of row i and only some candidates count.

    Args:
        scores: `(batch, n_candidates)` with `n_candidates >= batch`.
        wrong: `(batch, n_candidates)` of bool: the candidates that are not counted in this row.
        smoothing: share of the target spread evenly over the counted candidates.
    """
    gold = scores.diagonal()
    loss = torch.logsumexp(scores.masked_fill(wrong, -torch.inf), 1) - (1 - smoothing) * gold
    if smoothing:
        loss = loss - smoothing * scores.masked_fill(wrong, 0.0).sum(1) / (~wrong).sum(1)
    return loss.mean()


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
