"""Shared neighbourhood: two entities are alike if heat spreads from them to the same places."""

from __future__ import annotations

from torch import Tensor

from mohone.errors import require_float
from mohone.graph.adjacency import Graph
from mohone.graph.heat_kernel import HeatKernel, check_kernel
from mohone.netemb.neighborhood import Neighborhood


class SharedNeighborhood(Neighborhood):
    """N(u) is all nodes, weighted by the heat `Psi_u` that reaches them (the paper, section 3.3.1).

    Args:
        scale: the paper's s: how long heat flows; small is local.
        laplacian: `random_walk` or `symmetric`, see `HeatKernel`.
    """

    def __init__(self, scale: float = 5.0, laplacian: str = "random_walk") -> None:
        super().__init__()
        require_float("netemb.scale", scale, strict=True)  # At 0 no heat flows.
        self.scale, self.laplacian = check_kernel(scale, laplacian)

    def observe(self, graph: Graph) -> None:
        """Set up the kernel."""
        self._kernel = HeatKernel(graph, self.scale, self.laplacian)

    def block(self, nodes: Tensor) -> Tensor:
        """Rows of the heat kernel."""
        return self._kernel.rows(nodes)
