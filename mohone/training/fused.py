"""Losses of all candidates whose gradient is formed with them, block by block in the cache.

The scores of a batch against 40,000 candidates fit no cache, and torch's own ops pass over them many times.
The formulas stand in `mohone.training.losses`; tests hold both equal.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.core.blocks import row_blocks


class AnswerSoftmax(torch.autograd.Function):
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
        """The loss, a scalar; its gradient is kept."""
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
        """The gradient of the scores alone."""
        return (_times(ctx.saved_tensors[0], grad_outputs[0]), *[None] * 7)


class AnswerLogistic(torch.autograd.Function):
    """The loss of `answer_logistic`, its gradient formed in the forward pass, block by block."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, rows: Tensor, answers: Tensor, smoothing: float, scale: float
    ) -> Tensor:
        """The loss, a scalar; its gradient is kept."""
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
        """The gradient of the scores alone."""
        return _times(ctx.saved_tensors[0], grad_outputs[0]), None, None, None, None


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
