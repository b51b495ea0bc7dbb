"""Structural role: two entities are alike if the heat values around them are distributed alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.errors import require_float, require_int
from mohone.core.nearest import nearest_neighbors
from mohone.graph.divergence import HistogramDivergence, log_histograms
from mohone.graph.heat_kernel import HeatKernel, check_kernel
from mohone.graph.network import Network
from mohone.netemb.neighborhood import Neighborhood
from mohone.netemb.rows import node_blocks

_TOLERANCE = 1e-11  # Below the lowest bin: the small values of heat are what tells roles apart.
_SAMPLE_NEAREST = 100  # Histograms that the draws of a node come from.
_SAMPLE_OTHERS = 1024  # Nodes that the mean and deviation of its divergences are estimated from.
_BLOCK = 4096  # Histograms treated at a time.


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

    Histograms are computed block by block; nodes of equal histograms share one, and divergences are those
    between different ones.

    Draws are approximate: they come from the 100 different histograms nearest to the node's own in Hellinger
    distance, a stand-in for the metric sqrt(JSD), whose constant multiples bound it from both sides [Topsoe
    2000]; they are weighed by their exact divergences, with the mean and the deviation of 1,024 random nodes.
    What lies farther is never drawn.

    Args:
        scale: the paper's s; of a list of scales, `Psi` is the mean of the kernels.
        laplacian: see `HeatKernel`.
        n_bins: bins of the histograms.
        temperature: smaller favours the nearest histograms more.
    """

    def __init__(
        self,
        scale: float | Sequence[float] = 5.0,
        laplacian: str = "random_walk",
        n_bins: int = 64,
        temperature: float = 0.25,
    ) -> None:
        # At 0 no heat flows.
        self.scales, self.laplacian = check_kernel(scale, laplacian, "netemb.scale", strict=True)
        self.n_bins = require_int("netemb.n_bins", n_bins, 2)
        self.temperature = require_float("netemb.temperature", temperature, strict=True)

    def fit(self, network: Network, seed: int) -> None:
        """Keep both for the histograms."""
        self._network, self._seed = network, seed
        for name in ("_roles", "_draws"):
            self.__dict__.pop(name, None)

    def weights(self, nodes: Tensor) -> Tensor:
        """Weights from the standardised divergences."""
        roles = self._roles
        distinct, inverse = torch.unique(roles.of_node[nodes], return_inverse=True)
        divergence = roles.divergence.rows(distinct)[:, roles.of_node][inverse]
        return standardised_weights(divergence, nodes, self.temperature)

    def sample(self, nodes: Tensor, generator: torch.Generator) -> Tensor:
        """Nodes of near histograms."""
        roles, draws = self._roles, self._draws
        chance = torch.rand(len(nodes), 2, generator=generator, dtype=torch.float64)
        mine = roles.of_node[nodes]
        # Of the node's own histogram one member fewer can be drawn.
        column = torch.searchsorted(draws.cumulative[mine], chance[:, :1].contiguous(), right=True)
        column.clamp_(max=draws.near.shape[1] - 1)
        drawn = draws.near[mine].gather(1, column)[:, 0]
        out = roles.member(drawn, chance[:, 1], without=nodes)
        return out.masked_fill_(self._network.isolated[nodes], -1)

    @cached_property
    def _roles(self) -> Roles:
        """The different histograms of the nodes' heat values."""
        kernel = HeatKernel(self._network, self.scales, self.laplacian, _TOLERANCE)
        blocks = [
            log_histograms(kernel.rows(nodes), self.n_bins)
            for nodes in node_blocks(self._network.n_nodes, "StructuralRole: histograms")
        ]
        counts, of_node = torch.unique(torch.cat(blocks), dim=0, return_inverse=True)
        return Roles(HistogramDivergence(counts), of_node)

    @cached_property
    def _draws(self) -> RoleDraws:
        return role_draws(self._roles, self.temperature, self._seed)


class Roles:
    """Nodes by their histogram.

    Attributes:
        divergence: between the different histograms.
        of_node: `(n_nodes,)` number of each node's histogram.
        sizes: `(n_histograms,)` nodes of each.
    """

    def __init__(self, divergence: HistogramDivergence, of_node: Tensor) -> None:
        self.divergence, self.of_node = divergence, of_node
        self.sizes = torch.bincount(of_node)
        self._members = of_node.argsort(stable=True)
        self._starts = self.sizes.cumsum(0) - self.sizes
        self._place = torch.empty_like(of_node)
        self._place[self._members] = torch.arange(len(of_node)) - self._starts[of_node[self._members]]

    def first(self, roles: Tensor) -> Tensor:
        """A node of each of these histograms."""
        return self._members[self._starts[roles]]

    def member(self, roles: Tensor, chance: Tensor, without: Tensor) -> Tensor:
        """A node of each of these histograms, by a number in [0, 1), but for one node each."""
        own = self.of_node[without] == roles
        n = (self.sizes[roles] - own.long()).clamp(min=1)
        place = (chance * n).long()
        place += (own & (place >= self._place[without])).long()
        return self._members[self._starts[roles] + place]


class RoleDraws(NamedTuple):
    """The near histograms of each `(n_histograms, k)`, and running sums of their weights up to 1."""

    near: Tensor
    cumulative: Tensor


def role_draws(roles: Roles, temperature: float, seed: int) -> RoleDraws:
    """What nodes of each histogram draw from, see `StructuralRole`."""
    counts = torch.from_numpy(roles.divergence.counts)
    n = len(counts)
    own = torch.arange(n)[:, None]
    hellinger = (counts.float() / counts[0].sum()).sqrt()
    others = nearest_neighbors(hellinger, _SAMPLE_NEAREST, "euclidean").rows if n > 1 else own[:, :0]
    near = torch.cat([own, others], 1)
    near = torch.where(near < 0, own, near)
    deviation, mean = _moments(roles, seed)
    z = (roles.divergence.between(own[:, 0], near).double() - mean) / deviation.clamp(min=1e-12)
    n_drawn = roles.sizes[near].double()
    n_drawn[:, 0] -= 1
    n_drawn[:, 1:][near[:, 1:] == own] = 0.0  # A list of the index that held fewer.
    lowest = z.masked_fill(n_drawn == 0, torch.inf).amin(1, keepdim=True)
    weights = ((lowest - z) / temperature).exp() * n_drawn
    cumulative = weights.cumsum(1)
    return RoleDraws(near, cumulative / cumulative[:, -1:])


def _moments(roles: Roles, seed: int) -> tuple[Tensor, Tensor]:
    """Deviation and mean of the divergences between a node of each histogram and random others: `(n, 1)`."""
    generator = torch.Generator().manual_seed(seed)
    n_nodes, n_others = len(roles.of_node), max(1, len(roles.of_node) - 1)
    parts = []
    for own in torch.arange(len(roles.sizes)).split(_BLOCK):
        if n_others <= _SAMPLE_OTHERS:
            others = torch.arange(n_others).expand(len(own), -1)
        else:
            others = torch.randint(n_others, (len(own), _SAMPLE_OTHERS), generator=generator)
        nodes = roles.first(own)[:, None]
        others = (others + (others >= nodes)) % n_nodes
        parts.append(roles.divergence.between(own, roles.of_node[others]).double())
    deviation, mean = zip(*(torch.std_mean(x, 1, correction=0, keepdim=True) for x in parts), strict=True)
    return torch.cat(deviation), torch.cat(mean)


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
