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
from itertools import chain, repeat

import torch
from torch import Tensor

from mohone.core.errors import require_float, require_int
from mohone.core.sparse import csr_of_rows, spmm

_BLOCK = 1 << 26  # Numbers moved together, 256 MB: of 4.6 M entities 16 columns are.
_LEAST_COLUMNS = 16  # A line of the cache.
_ROWS = 1 << 20


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
    if pull.beta == 0 or neighbors.shape[1] == 0:
        return vectors.detach().clone()
    first, walk = vectors.detach().reshape(len(vectors), -1), _Walk(neighbors.to(vectors.device), pull)
    out = torch.empty_like(first)
    for columns in column_blocks(first):
        for now in walk.steps(first[:, columns]):  # noqa: B007
            pass
        out[:, columns] = now
    return out.reshape(vectors.shape)


class _Walk:
    """The update's matrix, which serves all columns."""

    def __init__(self, neighbors: Tensor, pull: Pull) -> None:
        beta, alpha = float(pull.beta), float(pull.alpha)
        self.iterations = pull.iterations
        self.matrix = neighbor_matrix(neighbors, beta / (alpha + beta))
        self.own = torch.where(neighbors[:, :1] < 0, 1.0, alpha / (alpha + beta))

    def steps(self, first: Tensor) -> Iterator[Tensor]:
        """Some columns after each iteration: `(n, n_columns)` float32."""
        now = first.contiguous()
        anchor = now * self.own
        for _ in range(self.iterations):
            now = spmm(self.matrix, now).add_(anchor)
            yield now


def column_blocks(first: Tensor) -> Iterator[slice]:
    """Columns that are moved together: all of a small table, few of a large one, since none needs another."""
    step = max(_LEAST_COLUMNS, _BLOCK // max(1, len(first)))
    for start in range(0, first.shape[1], step):
        yield slice(start, start + step)


def objective(vectors: Tensor, first: Tensor, neighbors: Tensor, pull: Pull) -> float:
    """The paper's eq. 3: `sum_i alpha |q_i - q^_i|^2 + sum_j beta_ij |q_i - q_j|^2`.

    Example:
        >>> apart, each_other = torch.tensor([[0.0], [3.0]]), torch.tensor([[1], [0]])
        >>> objective(apart, apart, each_other, Pull(beta=0.5))
        9.0
    """
    vectors, first = vectors.flatten(1), first.flatten(1)
    total = 0.0
    for rows in torch.arange(len(vectors)).split(max(1, _BLOCK // max(1, vectors.shape[1]))):
        own, near = vectors[rows], neighbors[rows]
        total += pull.alpha * float((own - first[rows]).square().sum())
        pulls = pull.beta / (near >= 0).sum(1).clamp(min=1)
        for column in near.T:
            linked = column >= 0
            squares = (own[linked] - vectors[column[linked]]).square().sum(1)
            total += float((pulls[linked] * squares).sum())
    return total


def objective_curve(first: Tensor, neighbors: Tensor, pull: Pull) -> list[float]:
    """The objective before the update and after each of its iterations: `iterations + 1` values."""
    first, neighbors = first.detach().flatten(1), neighbors.to(first.device)
    walk = None if pull.beta == 0 or neighbors.shape[1] == 0 else _Walk(neighbors, pull)
    total = [0.0] * (pull.iterations + 1)
    for columns in column_blocks(first):
        block = first[:, columns]
        steps = repeat(block, pull.iterations) if walk is None else walk.steps(block)
        each = (objective(step, block, neighbors, pull) for step in chain([block], steps))
        total = [sum(pair) for pair in zip(total, each, strict=True)]
    return total


def neighbor_matrix(neighbors: Tensor, total: float) -> Tensor:
    """The `(n, n)` sparse matrix with `total / k` at each row's k neighbours, as many as it has."""
    # Sorted within a row, some rows at a time, the columns are in the order of a CSR matrix.
    columns = torch.cat([part.int().sort(1).values for part in neighbors.split(_ROWS)])
    linked = columns >= 0
    n_linked = linked.sum(1)
    each = (total / n_linked.double()).float().repeat_interleave(n_linked)
    return csr_of_rows(n_linked, columns[linked], each)
