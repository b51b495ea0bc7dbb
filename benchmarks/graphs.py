"""The graphs that are embedded."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.data import FolderDataset
from mohone.graph.network import Network


class Split(NamedTuple):
    """A graph without some of its edges; those edges, and as many pairs that are none: `(n, 2)` each."""

    network: Network
    held_out: Tensor
    non_edges: Tensor


def benchmark_graph(data_dir: str, name: str) -> Network:
    """The network of a data set's training triples."""
    data = FolderDataset(name, str(Path(data_dir) / name)).load()
    return Network.from_triples(data.train, data.n_entities)


def edges_of(network: Network) -> Tensor:
    """Each edge once: `(n_edges, 2)`."""
    once = network.source < network.target
    return torch.stack([network.source[once], network.target[once]], 1)


def split_edges(network: Network, share: float) -> Split:
    """Hold out a share of the edges, by chance."""
    generator = torch.Generator().manual_seed(0)
    edges = edges_of(network)
    order = torch.randperm(len(edges), generator=generator)
    n = int(share * len(edges))
    held_out, kept = edges[order[:n]], edges[order[n:]]
    codes = network.source * network.n_nodes + network.target
    pairs = torch.randint(network.n_nodes, (2 * n, 2), generator=generator)
    proper = (pairs[:, 0] != pairs[:, 1]) & ~torch.isin(pairs[:, 0] * network.n_nodes + pairs[:, 1], codes)
    return Split(Network.from_edges(kept[:, 0], kept[:, 1], network.n_nodes), held_out, pairs[proper][:n])


def power_law(n_nodes: int, n_edges: int) -> Network:
    """Ends drawn with odds `rank^-0.5`: degrees fall off as a power law of exponent 3."""
    generator = torch.Generator().manual_seed(0)
    running = torch.arange(1, n_nodes + 1, dtype=torch.float64).rsqrt().cumsum(0)
    names = torch.randperm(n_nodes, generator=generator)

    def ends() -> Tensor:
        chance = torch.rand(n_edges, generator=generator, dtype=torch.float64) * running[-1]
        return names[torch.searchsorted(running, chance).clamp_(max=n_nodes - 1)]

    return Network.from_edges(ends(), ends(), n_nodes)


def planted_partition() -> tuple[Network, Tensor]:
    """Eight groups of 50 nodes, denser inside (0.2) than between (0.01), and the group of each node."""
    generator = torch.Generator().manual_seed(0)
    label = torch.arange(8).repeat_interleave(50)
    chance = torch.where(label[:, None] == label[None, :], 0.2, 0.01)
    linked = (torch.rand(chance.shape, generator=generator) < chance).triu(1)
    head, tail = linked.nonzero().T
    return Network.from_edges(head, tail, len(label)), label
