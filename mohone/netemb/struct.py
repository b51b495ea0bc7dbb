"""Structural role: two entities are alike if the heat values around them are distributed alike."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.errors import require_float, require_int
from mohone.graph.adjacency import Graph
from mohone.graph.divergence import jensen_shannon, log_histograms
from mohone.graph.heat_kernel import HeatKernel, check_kernel
from mohone.netemb.neighborhood import Neighborhood, node_blocks

_TOLERANCE = 1e-11  # Below the lowest bin: the small values of heat are what tells roles apart.


class StructuralRole(Neighborhood):
    """N(u) is all nodes, weighted by how like their distribution of heat values is (section 3.3.2).

    What the paper leaves open is chosen so:

    1. The distribution of values in `Psi_u` is its histogram in `n_bins` bins equal in log(value), from 1e-9
       to 1, the same bins for all nodes; smaller values, zeros too, count to the first bin.
    2. `D(u, v)` is the Jensen-Shannon divergence in nats between the histograms of u and v.
    3. "Standardising D(u, v) across all nodes": `z(u, v) = (D(u, v) - mean_v) / std_v` over `v != u`; all 0
       if the deviation is 0.
    4. A small divergence is a likeness, so the weight is `exp(-z(u, v) / temperature)`, normalised over
       `v != u`: a node one deviation nearer weighs e times as much at temperature 1.

    Args:
        scale: the paper's s.
        laplacian: see `HeatKernel`.
        n_bins: bins of the histograms.
        temperature: smaller favours the nearest histograms more.
    """

    def __init__(
        self,
        scale: float = 5.0,
        laplacian: str = "random_walk",
        n_bins: int = 64,
        temperature: float = 0.25,
    ) -> None:
        super().__init__()
        require_float("netemb.scale", scale, strict=True)  # At 0 no heat flows.
        self.scale, self.laplacian = check_kernel(scale, laplacian)
        self.n_bins = require_int("netemb.n_bins", n_bins, 2)
        self.temperature = require_float("netemb.temperature", temperature, strict=True)

    def observe(self, graph: Graph) -> None:
        """Compute the histogram of each node's heat values."""
        kernel = HeatKernel(graph, self.scale, self.laplacian, _TOLERANCE)
        self._histograms = torch.cat(
            [
                log_histograms(kernel.rows(nodes), self.n_bins)
                for nodes in node_blocks(graph.n_nodes, "StructuralRole: histograms")
            ]
        )

    def block(self, nodes: Tensor) -> Tensor:
        """Weights from the standardised divergences."""
        divergence = jensen_shannon(self._histograms[nodes], self._histograms)
        return standardised_weights(divergence, nodes, self.temperature)


def standardised_weights(divergence: Tensor, nodes: Tensor, temperature: float) -> Tensor:
    """`exp(-z / temperature)` of each row, up to a factor, where z standardises over the other nodes.

    Args:
        divergence: `(len(nodes), n)`.
        nodes: the node of each row, which does not count.
        temperature: > 0.
    """
    other = torch.ones_like(divergence, dtype=torch.bool)
    other[torch.arange(len(nodes)), nodes] = False
    n_others = max(1, divergence.shape[1] - 1)
    mean = (divergence * other).sum(1, keepdim=True) / n_others
    deviation = ((divergence - mean).square() * other).sum(1, keepdim=True) / n_others
    z = (divergence - mean) / deviation.sqrt().clamp(min=1e-12)
    lowest = z.masked_fill(~other, torch.inf).amin(1, keepdim=True)
    return ((lowest - z) / temperature).exp_().mul_(other)
