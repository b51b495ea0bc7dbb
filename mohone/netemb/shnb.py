"""Shared neighbourhood: two entities are alike if heat spreads from them to the same places."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mohone.core.errors import ConfigError
from mohone.graph.heat_kernel import HeatKernel, check_kernel
from mohone.graph.network import Network
from mohone.graph.random_walks import poisson_lengths, walk_ends
from mohone.netemb.neighborhood import Neighborhood, draw_key


class SharedNeighborhood(Neighborhood):
    """N(u) is all nodes, weighted by the heat `Psi_u` that reaches them (the paper, section 3.3.1).

    A draw is the end of a random walk whose length is Poisson(scale): exact, at `O(scale)` a draw.

    Args:
        scale: the paper's s: how long heat flows; small is local. Of a list of scales, `Psi` is the mean of
            the kernels, so that N(u) is near and far at once.
        laplacian: `random_walk` or `symmetric`, see `HeatKernel`.
    """

    def __init__(self, scale: float | Sequence[float] = 5.0, laplacian: str = "random_walk") -> None:
        # At 0 no heat flows.
        self.scales, self.laplacian = check_kernel(scale, laplacian, "netemb.scale", strict=True)

    def check(self, objective: str) -> None:
        """By the rows of the symmetric Laplacian no walk ends."""
        if objective == "sampled" and self.laplacian != "random_walk":
            raise ConfigError(
                "`netemb.laplacian` must be random_walk for the sampled objective, but is symmetric."
            )

    def fit(self, network: Network, seed: int) -> None:  # noqa: ARG002
        """Set up the kernel and the walks."""
        self._network = network
        self._kernel = HeatKernel(network, self.scales, self.laplacian)
        self._lengths = poisson_lengths(self.scales)

    def weights(self, nodes: Tensor) -> Tensor:
        """Rows of the heat kernel."""
        return self._kernel.rows(nodes)

    def sample(self, nodes: Tensor, generator: torch.Generator) -> Tensor:
        """Ends of random walks.

        Raises:
            ConfigError: see `check`.
        """
        self.check("sampled")
        return walk_ends(self._network, nodes, self._lengths, draw_key(generator))
