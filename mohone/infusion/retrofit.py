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
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.errors import require_float, require_int
from mohone.core.sparse import csr_of_rows, spmm

_BLOCK = 1 << 26  # Numbers moved together, 256 MB: of 4.6 M entities 16 columns are.
_LEAST_COLUMNS = 16  # A line of the cache.
_ROWS = 1 << 20
_SUMMED = 1 << 22  # Numbers whose squares are summed together.


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


class Retrofitted(NamedTuple):
    """Vectors that were drawn towards their neighbours.

    Attributes:
        vectors: as they were given, `(n, ...)`.
        objective: the paper's eq. 3 before the update and after each of its iterations, `iterations + 1`
            values: `sum_i alpha |q_i - q^_i|^2 + sum_j beta_ij |q_i - q_j|^2`.
    """

    vectors: Tensor
    objective: list[float]


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
    return _drawn(vectors, neighbors, pull, [])


def retrofit_and_tell(vectors: Tensor, neighbors: Tensor, pull: Pull) -> Retrofitted:
    """The same, and how the objective falls.

    Example:
        >>> apart, each_other = torch.tensor([[0.0], [3.0]]), torch.tensor([[1], [0]])
        >>> retrofit_and_tell(apart, each_other, Pull(beta=1.0, iterations=1)).objective
        [18.0, 4.5]
    """
    objective = [0.0] * (pull.iterations + 1)
    return Retrofitted(_drawn(vectors, neighbors, pull, objective), objective)


def _drawn(vectors: Tensor, neighbors: Tensor, pull: Pull, objective: list[float]) -> Tensor:
    """The vectors after all iterations; what `objective` holds grows by each one's, if it is not empty."""
    if pull.beta == 0 or neighbors.shape[1] == 0:
        return vectors.detach().clone()
    first, walk = vectors.detach().reshape(len(vectors), -1), _Walk(neighbors.to(vectors.device), pull)
    out = torch.empty_like(first)
    for columns in column_blocks(first):
        out[:, columns] = walk.last(first[:, columns].contiguous(), objective)
    return out.reshape(vectors.shape)


class _Walk:
    """The update's matrix, which serves all columns."""

    def __init__(self, neighbors: Tensor, pull: Pull) -> None:
        self.pull, self.total = pull, float(pull.alpha) + float(pull.beta)
        self.matrix = neighbor_matrix(neighbors, float(pull.beta) / self.total)
        self.linked = neighbors[:, :1] >= 0
        self.own = torch.where(self.linked, float(pull.alpha) / self.total, 1.0)

    @cached_property
    def asked(self) -> Tensor:
        """The pulls `beta_ij` by which others are drawn to each row, together: `(n, 1)`."""
        n = len(self.own)
        columns, values = self.matrix.col_indices().long(), self.matrix.values()
        return torch.zeros(n, device=values.device).index_add_(0, columns, values)[:, None] * self.total

    def last(self, first: Tensor, objective: list[float]) -> Tensor:
        """Some columns after the last iteration: `(n, n_columns)` float32."""
        now, anchor = first, first * self.own
        for step in range(self.pull.iterations + bool(objective)):
            drawn = spmm(self.matrix, now)
            if objective:
                objective[step] += self._objective(now, first, drawn)
            if step < self.pull.iterations:
                now = drawn.add_(anchor)
        return now

    def _objective(self, now: Tensor, first: Tensor, drawn: Tensor) -> float:
        """The objective of some columns, where `drawn` is their product with the matrix.

        `sum_j beta_ij |q_i - q_j|^2` is expanded, so that no pair is looked at: `sum_j beta_ij q_j` is
        `drawn` times alpha + beta. Where vectors are all but equal little is left of large numbers: sums
        are right to a part in a million of `beta sum_i |q_i|^2`.
        """
        value, step = 0.0, max(1, _SUMMED // now.shape[1])
        for start in range(0, len(now), step):
            here = slice(start, start + step)
            own, far = now[here], now[here] - first[here]
            pulls = self.linked[here] * float(self.pull.beta) + self.asked[here]
            value += float((self.pull.alpha * far.square() + pulls * own.square()).sum())
            value -= 2 * self.total * float((own * drawn[here]).sum())
        return max(0.0, value)


def column_blocks(first: Tensor) -> Iterator[slice]:
    """Columns that are moved together: all of a small table, few of a large one, since none needs another."""
    step = max(_LEAST_COLUMNS, _BLOCK // max(1, len(first)))
    for start in range(0, first.shape[1], step):
        yield slice(start, start + step)


def neighbor_matrix(neighbors: Tensor, total: float) -> Tensor:
    """The `(n, n)` sparse matrix with `total / k` at each row's k neighbours, as many as it has."""
    # Sorted within a row, some rows at a time, the columns are in the order of a CSR matrix.
    columns = torch.cat([part.int().sort(1).values for part in neighbors.split(_ROWS)])
    linked = columns >= 0
    n_linked = linked.sum(1)
    each = (total / n_linked.double()).float().repeat_interleave(n_linked)
    return csr_of_rows(n_linked, columns[linked], each)
