"""The heat kernel of a graph by Chebyshev polynomials, on blocks of its rows.

The paper defines `Psi = exp(-s L)` with the symmetric Laplacian, and relies on its columns being
distributions. Those of the random-walk form `exp(-s (I - D^-1 A))` are (by rows), those of the symmetric
form are not: the two are `D^1/2 Psi D^-1/2` of each other. The random-walk form is therefore the default.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.special import ive
from torch import Tensor

from mohone.core.errors import ConfigError, require_choice, require_float, require_some
from mohone.core.sparse import csr_matrix, spmm
from mohone.graph.network import Network

LAPLACIANS = ("random_walk", "symmetric")
_LONGEST = 1e6  # Times for heat to flow.


def chebyshev_coefficients(scale: float, tolerance: float = 1e-7) -> np.ndarray:
    """Coefficients `c` with `exp(-s (1 - x)) = sum_k c_k T_k(x)` on [-1, 1], up to `tolerance`.

    They are `e^-s I_k(s)` (modified Bessel functions), twice that for k > 0 [Hammond et al. 2011].

    Example:
        >>> c = chebyshev_coefficients(2.0)
        >>> bool(abs(np.polynomial.chebyshev.chebval(0.3, c) - np.exp(-2.0 * (1 - 0.3))) < 1e-7)
        True
    """
    n_terms = 16
    while True:
        coefficients = 2.0 * ive(np.arange(n_terms), scale)
        coefficients[0] /= 2.0
        tails = np.cumsum(np.abs(coefficients)[::-1])[::-1]
        if tails[-1] < tolerance * 1e-2:
            return coefficients[: max(1, int(np.argmax(tails < tolerance)))]
        n_terms *= 2


def mean_coefficients(scales: Sequence[float], tolerance: float = 1e-7) -> np.ndarray:
    """The coefficients of the mean of the exponentials: one recurrence serves all scales."""
    each = [chebyshev_coefficients(scale, tolerance) for scale in scales]
    out = np.zeros(max(len(coefficients) for coefficients in each))
    for coefficients in each:
        out[: len(coefficients)] += coefficients / len(each)
    return out


def check_kernel(
    scale: object, laplacian: object, name: str = "scale", strict: bool = False
) -> tuple[tuple[float, ...], str]:
    """The scales, one or a list of them, and the Laplacian, if they can be.

    Raises:
        ConfigError: unless each scale is >= 0 (`strict`: > 0), there is one, and the Laplacian is one of
            `LAPLACIANS`.
    """
    scales = tuple(require_float(name, value, strict=strict) for value in require_some(name, scale))
    if max(scales) > _LONGEST:
        raise ConfigError(f"`{name}` must be at most {_LONGEST:g}, but is {max(scales):g}.")
    return scales, require_choice("laplacian", laplacian, LAPLACIANS)


class HeatKernel:
    """Rows of the heat kernel of `network` at `scale`, computed block by block and never held.

    The cost of a block of b rows is `order` products of the sparse `(n, n)` matrix with an `(n, b)` block.

    Args:
        network: of n nodes; the weights of edges, if any, are its walk's odds.
        scale: the paper's s, the time heat flows, >= 0; of a list of scales the mean of the kernels.
        laplacian: `random_walk` (rows sum to 1) or `symmetric` (the paper's formula).
        tolerance: largest error of the polynomial on the spectrum.

    Example:
        >>> pair = Network.from_edges(torch.tensor([0]), torch.tensor([1]), n_nodes=2)
        >>> HeatKernel(pair, scale=1.0).rows(torch.tensor([0]))
        tensor([[0.5677, 0.4323]])
    """

    def __init__(
        self,
        network: Network,
        scale: float | Sequence[float],
        laplacian: str = "random_walk",
        tolerance: float = 1e-7,
    ) -> None:
        self.scales, self.laplacian = check_kernel(scale, laplacian)
        self.n_nodes = network.n_nodes
        self._coefficients = mean_coefficients(self.scales, tolerance)
        self._operator = _operator(network, laplacian)

    @property
    def order(self) -> int:
        """Degree of the polynomial: the number of sparse products a block costs."""
        return len(self._coefficients) - 1

    def rows(self, nodes: Tensor) -> Tensor:
        """The rows of `nodes`: `(len(nodes), n_nodes)`, non-negative; distributions if `random_walk`."""
        block = torch.zeros(self.n_nodes, len(nodes))
        block[nodes, torch.arange(len(nodes))] = 1.0
        rows = self._apply(block).T.clamp_(min=0.0)
        return rows / rows.sum(1, keepdim=True) if self.laplacian == "random_walk" else rows

    def _apply(self, block: Tensor) -> Tensor:
        """`Psi^T block` by the three-term recurrence of the Chebyshev polynomials."""
        first, *others = (float(coefficient) for coefficient in self._coefficients)
        out = block * first
        before, now = None, block
        for coefficient in others:
            after = spmm(self._operator, now)
            if before is not None:
                after.mul_(2.0).sub_(before)
            before, now = now, after
            out.add_(now, alpha=coefficient)
        return out


def _operator(network: Network, laplacian: str) -> Tensor:
    """`I - L^T`, whose powers spread a column of heat; an isolated node keeps its heat."""
    alone = network.isolated.nonzero().flatten()
    row, column = torch.cat([network.target, alone]), torch.cat([network.source, alone])
    strengths = network.strengths.masked_fill(network.isolated, 1.0)
    symmetric = laplacian == "symmetric"
    value = (strengths[row] * strengths[column]).rsqrt() if symmetric else 1.0 / strengths[column]
    if network.weight is not None:
        value[: len(network.weight)] *= network.weight
    return csr_matrix(row, column, value, network.n_nodes)
