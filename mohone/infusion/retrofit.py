"""Retrofitting: entity vectors drawn towards those of their network neighbours. Pure functions.

The paper's update (its eq. 4, after Faruqui et al., NAACL 2015):

    q_i <- (sum_j beta_ij q_j + alpha q^_i) / (sum_j beta_ij + alpha),    beta_ij = beta / |Omega_i|

`beta` is the total pull of the neighbours, so that it means the same for any number of them. The paper
updates "online"; here all rows are updated at once (Jacobi), so that the order of entities changes nothing.
The map contracts by `beta / (alpha + beta)`, hence both have the same, only fixed point: the solution of
`(alpha + beta) q_i - sum_j beta_ij q_j = alpha q^_i`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from mohone.core.errors import require_float, require_int
from mohone.core.sparse import csr_matrix, spmm


@dataclass(frozen=True)
class Pull:
    """How strongly a row is drawn towards its neighbours.

    Attributes:
        beta: total pull of the neighbours, >= 0; 0 changes nothing.
        alpha: pull of the row's own first value, > 0.
        iterations: of the update; the paper's 10 leave an error of at most `(beta / (alpha + beta))^10`.

    Raises:
        ConfigError: a value that cannot be.
    """

    beta: float
    alpha: float = 1.0
    iterations: int = 10

    def __post_init__(self) -> None:
        require_float("infusion.beta", self.beta)
        require_float("infusion.alpha", self.alpha, strict=True)
        require_int("infusion.iterations", self.iterations, 1)


def retrofit(vectors: Tensor, neighbors: Tensor, pull: Pull) -> Tensor:
    """Draw each row towards its neighbours' rows.

    Args:
        vectors: `(n, ...)`, the paper's q^; any shape of row.
        neighbors: `(n, k)` row numbers; -1, at the end of a row: none. A row without any stays as it is.
        pull: how strongly.

    Returns:
        a new tensor like `vectors`.

    Example:
        >>> corners = torch.eye(2)
        >>> each_other = torch.tensor([[1], [0]])
        >>> retrofit(corners, each_other, Pull(beta=1.0, iterations=50))
        tensor([[0.6667, 0.3333],
                [0.3333, 0.6667]])
    """
    now = vectors
    for now in retrofit_steps(vectors, neighbors, pull):  # noqa: B007
        pass
    return now


def retrofit_steps(vectors: Tensor, neighbors: Tensor, pull: Pull) -> Iterator[Tensor]:
    """The vectors after each iteration of `retrofit`."""
    neighbors = neighbors.to(vectors.device)
    first = vectors.detach().reshape(len(vectors), -1)
    if pull.beta == 0 or neighbors.shape[1] == 0:
        yield from (vectors.detach().clone() for _ in range(pull.iterations))
        return
    beta, alpha = float(pull.beta), float(pull.alpha)
    matrix = neighbor_matrix(neighbors, beta / (alpha + beta))
    alone = neighbors[:, :1] < 0
    anchor = first * torch.where(alone, 1.0, alpha / (alpha + beta))
    now = first
    for _ in range(pull.iterations):
        now = spmm(matrix, now).add_(anchor)
        yield now.reshape(vectors.shape).to(vectors.dtype)


def objective(vectors: Tensor, first: Tensor, neighbors: Tensor, pull: Pull) -> float:
    """The paper's eq. 3: `sum_i alpha |q_i - q^_i|^2 + sum_j beta_ij |q_i - q_j|^2`.

    Example:
        >>> apart, each_other = torch.tensor([[0.0], [3.0]]), torch.tensor([[1], [0]])
        >>> objective(apart, apart, each_other, Pull(beta=0.5))
        9.0
    """
    vectors, first = vectors.flatten(1), first.flatten(1)
    total = pull.alpha * float((vectors - first).square().sum())
    pulls = pull.beta / (neighbors >= 0).sum(1).clamp(min=1)
    for column in neighbors.T:
        linked = column >= 0
        squares = (vectors[linked] - vectors[column[linked]]).square().sum(1)
        total += float((pulls[linked] * squares).sum())
    return total


def objective_curve(first: Tensor, neighbors: Tensor, pull: Pull) -> list[float]:
    """The objective before the update and after each of its iterations: `iterations + 1` values."""
    steps = chain([first], retrofit_steps(first, neighbors, pull))
    return [objective(step, first, neighbors, pull) for step in steps]


def neighbor_matrix(neighbors: Tensor, total: float) -> Tensor:
    """The `(n, n)` sparse matrix with `total / k` at each row's k neighbours, as many as it has."""
    linked = neighbors >= 0
    row, _ = linked.nonzero(as_tuple=True)
    each = (total / linked.sum(1).double())[row].float()
    return csr_matrix(row, neighbors[linked], each, len(neighbors))
