"""What N(u) is: all that distinguishes one network embedding from another (the paper, section 3.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from mohone.graph.network import Network


class Neighborhood(ABC):
    """Distributions over nodes: what a node's embedding has to predict, as whole rows or as draws."""

    def check(self, objective: str) -> None:
        """Refuse what could not be learned by an objective, `exact` (rows) or `sampled` (draws).

        Raises:
            ConfigError: what cannot be.
        """

    @abstractmethod
    def fit(self, network: Network, seed: int) -> None:
        """Take the graph that all else speaks of; costly things are left to their first use.

        Args:
            network: nodes and edges.
            seed: of what is random in the rows.
        """

    @abstractmethod
    def weights(self, nodes: Tensor) -> Tensor:
        """Weights `(len(nodes), n_nodes)` float32, >= 0, to be normalised without the node itself."""

    @abstractmethod
    def sample(self, nodes: Tensor, generator: torch.Generator) -> Tensor:
        """A draw for each node from its distribution: `(len(nodes),)` other nodes; -1 for an isolated one."""


def draw_key(generator: torch.Generator) -> int:
    """A key of random numbers by counter, from a generator in sequence."""
    return int(torch.randint(2**62, (1,), generator=generator))
