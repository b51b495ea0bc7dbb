"""Retrofitting: entity vectors drawn towards those of their network neighbours. Pure functions.

The paper's update (its eq. 4, after Faruqui et al., NAACL 2015):

    q_i <- (sum_j beta_ij q_j + alpha q^_i) / (sum_j beta_ij + alpha),    beta_ij = beta / |Omega_i|

`beta` is the total pull of the neighbours, so that it means the same for any number of them. The paper
updates "online"; here all rows are updated at once (Jacobi), so that the order of entities changes nothing.
The map contracts by `beta / (alpha + beta)`, hence both have the same, only fixed point: the solution of
`(alpha + beta) q_i - sum_j beta_ij q_j = alpha q^_i`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.errors import require_float, require_int
from mohone.graph.sparse import csr_matrix, spmm


def retrofit(
    vectors: Tensor,
    neighbors: Tensor,
    beta: float,
    alpha: float = 1.0,
    iterations: int = 10,
) -> Tensor:
    """Draw each row towards its neighbours' rows.

    Args:
        vectors: `(n, ...)`, the paper's q^; any shape of row.
        neighbors: `(n, k)` row numbers; a row of -1 has no neighbours and stays as it is.
        beta: total pull of the neighbours, >= 0; 0 changes nothing.
        alpha: pull of the row's own first value, > 0.
        iterations: of the update; the paper's 10 leave an error of at most `(beta / (alpha + beta))^10`.

    Returns:
        a new tensor like `vectors`.
    """
    beta, alpha = check_pulls(beta, alpha)
    require_int("infusion.iterations", iterations, 1)
    neighbors = neighbors.to(vectors.device)
    first = vectors.detach().reshape(len(vectors), -1)
    if beta == 0 or neighbors.shape[1] == 0:
        return vectors.detach().clone()
    pull = neighbor_matrix(neighbors, beta / (alpha + beta))
    alone = neighbors[:, :1] < 0
    anchor = first * torch.where(alone, 1.0, alpha / (alpha + beta))
    now = first
    for _ in range(iterations):
        now = spmm(pull, now).add_(anchor)
    return now.reshape(vectors.shape).to(vectors.dtype)


def check_pulls(beta: object, alpha: object) -> tuple[float, float]:
    """Both as floats.

    Raises:
        ConfigError: unless beta >= 0 and alpha > 0.
    """
    return (
        require_float("infusion.beta", beta),
        require_float("infusion.alpha", alpha, strict=True),
    )


def objective(vectors: Tensor, first: Tensor, neighbors: Tensor, beta: float, alpha: float = 1.0) -> float:
    """The paper's eq. 3: `sum_i alpha |q_i - q^_i|^2 + sum_j beta_ij |q_i - q_j|^2`."""
    vectors, first = vectors.flatten(1), first.flatten(1)
    total = alpha * float((vectors - first).square().sum())
    linked = (neighbors[:, :1] >= 0).flatten()
    for column in neighbors[linked].T:
        total += beta / neighbors.shape[1] * float((vectors[linked] - vectors[column]).square().sum())
    return total


def objective_curve(
    first: Tensor, neighbors: Tensor, beta: float, alpha: float, iterations: int
) -> list[float]:
    """The objective before the update and after each of its iterations: `iterations + 1` values."""
    return [
        objective(retrofit(first, neighbors, beta, alpha, i) if i else first, first, neighbors, beta, alpha)
        for i in range(iterations + 1)
    ]


def neighbor_matrix(neighbors: Tensor, total: float) -> Tensor:
    """The `(n, n)` sparse matrix with `total / k` at each row's k neighbours."""
    n, k = neighbors.shape
    row = torch.arange(n, device=neighbors.device).repeat_interleave(k)
    linked = neighbors.flatten() >= 0
    column = neighbors.flatten()[linked]
    return csr_matrix(row[linked], column, torch.full((len(column),), total / k, device=column.device), n)
