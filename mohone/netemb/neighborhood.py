"""What N(u) is: all that distinguishes one network embedding from another (the paper, section 3.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

from mohone.errors import ConfigError
from mohone.graph.adjacency import Graph
from mohone.progress import progress_bar

_FLOAT32_LIMIT = 1 << 30  # Bytes up to which a whole matrix is held in float32, beyond in float16.
_MOST_NODES = 50_000
_BLOCK = 64  # Rows computed at a time: the fastest on the benchmark graphs, a block fits the cache.


def node_blocks(n_nodes: int, description: str) -> Iterator[Tensor]:
    """All nodes in blocks, under a progress bar."""
    with progress_bar(description, n_nodes, unit="node") as bar:
        for nodes in torch.arange(n_nodes).split(_BLOCK):
            yield nodes
            bar.update(len(nodes))


class Neighborhood(ABC):
    """Distributions over nodes: what a node's embedding has to predict.

    Subclasses say what a row is; it is computed once, block by block, and held as a matrix.
    """

    def __init__(self) -> None:
        self._matrix = torch.empty(0, 0)

    @abstractmethod
    def block(self, nodes: Tensor) -> Tensor:
        """Weights `(len(nodes), n_nodes)`, >= 0, to be normalised without the node itself."""

    @abstractmethod
    def observe(self, graph: Graph) -> None:
        """Take the graph that `block` speaks of; called once, by `prepare`."""

    def prepare(self, graph: Graph) -> None:
        """Compute all rows.

        Raises:
            ConfigError: if the graph is too large for a matrix of all pairs.
        """
        if graph.n_nodes > _MOST_NODES:
            raise ConfigError(
                f"The exact objective holds all pairs of nodes and so takes at most {_MOST_NODES:,} "
                f"entities, but there are {graph.n_nodes:,}: choose `netemb=none`."
            )
        self.observe(graph)
        n = graph.n_nodes
        dtype = torch.float32 if 4 * n * n <= _FLOAT32_LIMIT else torch.float16
        self._matrix = torch.empty(n, n, dtype=dtype)
        for nodes in node_blocks(n, f"{type(self).__name__}: rows"):
            weights = self.block(nodes)
            weights[torch.arange(len(nodes)), nodes] = 0.0
            weights[graph.isolated[nodes]] = 0.0
            total = weights.sum(1, keepdim=True)
            self._matrix[nodes] = (weights / total.where(total > 0, 1.0)).to(dtype)

    def to(self, device: torch.device) -> None:
        """Move the prepared rows to a device."""
        self._matrix = self._matrix.to(device)

    def rows(self, nodes: Tensor) -> Tensor:
        """`(len(nodes), n_nodes)` float32: distributions, 0 on the node itself; all 0 if it is isolated."""
        return self._matrix[nodes].float()
