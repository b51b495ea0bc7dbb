"""All rows of a neighbourhood, computed once and held as a matrix: what the exact objective predicts."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from mohone.core.progress import progress_bar
from mohone.graph.network import Network
from mohone.netemb.neighborhood import Neighborhood

_FLOAT32_LIMIT = 1 << 30  # Bytes up to which the matrix is held in float32, beyond in float16.
BLOCK = 64  # Rows computed at a time: the fastest on the benchmark graphs, a block fits the cache.


def node_blocks(n_nodes: int, description: str) -> Iterator[Tensor]:
    """All nodes in blocks, under a progress bar."""
    with progress_bar(description, n_nodes, unit="node") as bar:
        for nodes in torch.arange(n_nodes).split(BLOCK):
            yield nodes
            bar.update(len(nodes))


class NeighborRows:
    """The distributions of all nodes.

    Args:
        neighborhood: has observed `network`.
        network: of n nodes: `4 n^2` bytes are held, or `2 n^2` beyond a GB.
    """

    def __init__(self, neighborhood: Neighborhood, network: Network) -> None:
        n = network.n_nodes
        dtype = torch.float32 if 4 * n * n <= _FLOAT32_LIMIT else torch.float16
        self._matrix = torch.empty(n, n, dtype=dtype)
        for nodes in node_blocks(n, f"{type(neighborhood).__name__}: rows"):
            weights = neighborhood.weights(nodes)
            weights[torch.arange(len(nodes)), nodes] = 0.0
            weights[network.isolated[nodes]] = 0.0
            total = weights.sum(1, keepdim=True)
            self._matrix[nodes] = (weights / total.where(total > 0, 1.0)).to(dtype)

    def to(self, device: torch.device) -> None:
        """Move the rows to a device."""
        self._matrix = self._matrix.to(device)

    def __getitem__(self, nodes: Tensor) -> Tensor:
        """`(len(nodes), n_nodes)` float32: distributions, 0 on the node itself; all 0 if it is isolated."""
        return self._matrix[nodes].float()
