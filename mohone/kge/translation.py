"""Distances between queries and candidates as matrix products, and what the models that use them share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor

from mohone.core.blocks import row_blocks
from mohone.core.errors import require_bool, require_float
from mohone.kge.base import KGEModel, Query, normal_table
from mohone.kge.tables import touched_rows

_LEAST_SQUARE = 1e-6  # Smaller ones are rounding; a root of at least 1e-3 has a gradient that is no noise.


class TranslationModel(KGEModel):
    """A model whose score is minus a Euclidean distance, or its square.

    Args:
        squared: is the score the squared distance?
        init_std: first vectors have about this length: numbers are normal with `std = init_std / sqrt(dim)`.
        max_norm: after each step no entity vector is longer (the papers' constraint, at 1); None: any length.
        reciprocal: see `KGEModel`.
    """

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int,
        squared: bool,
        init_std: float,
        max_norm: float | None,
        reciprocal: bool,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, reciprocal)
        self.squared = require_bool("kge_model.squared", squared)
        if max_norm is not None:
            require_float("kge_model.max_norm", max_norm, strict=True)
        self.max_norm = max_norm
        self.std = require_float("kge_model.init_std", init_std) / dim**0.5
        self.entity = normal_table(n_entities, dim, self.std)

    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch,)`."""
        return self.minus_distance(self.differences(query, candidates).square().sum(1))

    @abstractmethod
    def differences(self, query: Query, candidates: Tensor) -> Tensor:
        """Each query's vector minus its one candidate's as the relation sees it: `(batch, width)`."""

    def minus_distance(self, squares: Tensor) -> Tensor:
        """Scores from squared distances `(n, ...)`, of the same shape; `squares` may be overwritten."""
        return -squares.clamp(min=0.0) if self.squared else minus_root(squares)

    @torch.no_grad()
    def constrain(self) -> None:
        """Shorten entity vectors to `max_norm`: those that the step moved, where that is known."""
        table = self.entity
        if self.max_norm is None or not table.requires_grad:
            return
        rows = touched_rows(table)
        moved = table if rows is None else table[rows]
        lengths = moved.norm(dim=1, keepdim=True)
        moved.mul_((self.max_norm / lengths.clamp(min=self.max_norm)).to(table.dtype))
        if rows is not None:
            table[rows] = moved


def squared_distances(queries: Tensor, table: Tensor) -> Tensor:
    """`|q_i - t_j|^2 = |q_i|^2 - 2 q_i.t_j + |t_j|^2`, slightly negative at times: `(batch, n_candidates)`.

    In full precision the squared lengths ride along in two further columns of one product, so that neither
    they nor their gradients cost a pass over the result. What it equals, `(batch, n_candidates, dim)` large:

        (queries[:, None] - table).square().sum(2)

    Args:
        queries: `(batch, dim)`.
        table: `(n_candidates, dim)`.

    >>> squared_distances(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [1.0, 0.0]]))
    tensor([[25.,  1.]])
    """
    lengths = queries.square().sum(1, keepdim=True)
    if torch.is_autocast_enabled(queries.device.type):
        # Lengths of few digits would drown the differences: only the product may be of low precision.
        return torch.add(table.square().sum(1) + lengths, queries @ table.T, alpha=-2.0)
    ones = torch.ones_like
    left = torch.cat([-2.0 * queries, lengths, ones(lengths)], 1)
    right = torch.cat([table, ones(table[:, :1]), table.square().sum(1, keepdim=True)], 1)
    return left @ right.T


class _MinusRoot(torch.autograd.Function):
    """`minus_root`, in the memory of its argument; backward needs the result alone.

    What it equals, with three temporaries as large as the scores:

        -(squares + (squares.clamp(min=_LEAST_SQUARE) - squares).detach()).sqrt()

    Below the least square the gradient goes on as at it: a difference of 0 passes on `0 / tiny`, which is 0.
    """

    @staticmethod
    def forward(ctx: Any, squares: Tensor) -> Tensor:
        for part in row_blocks(squares):
            squares[part].clamp_(min=_LEAST_SQUARE).sqrt_().neg_()
        ctx.mark_dirty(squares)
        ctx.save_for_backward(squares)
        return squares

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Tensor:
        (scores,) = ctx.saved_tensors
        gradient = torch.empty_like(scores)
        for part in row_blocks(scores):
            torch.div(grad_outputs[0][part], scores[part], out=gradient[part])
            gradient[part].mul_(0.5)
        return gradient


def minus_root(squares: Tensor) -> Tensor:
    """Minus the roots of squared distances `(n, ...)`, each root 1e-3 at least. `squares` is overwritten.

    >>> minus_root(torch.tensor([25.0, 1.0]))
    tensor([-5., -1.])
    """
    roots: Tensor = _MinusRoot.apply(squares)  # type: ignore[no-untyped-call]
    return roots
