"""How many edges apart nodes are, up to a few."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.sparse import csr_matrix, spmm
from mohone.graph.network import Network

_BLOCK = 512  # Nodes that are asked from at a time.


def distances(network: Network, nodes: Tensor, others: Tensor, most: int = 3) -> Tensor:
    """Edges on a shortest path between each pair, `most + 1` for all that is farther: `(n,)` int64.

    Args:
        network: of N nodes; N times 512 numbers are held.
        nodes, others: `(n,)` of each pair.
        most: up to which distances are told apart.

    Example:
        >>> path = Network.from_edges(torch.tensor([0, 1, 2]), torch.tensor([1, 2, 3]), 5)
        >>> distances(path, torch.tensor([0, 0, 0, 0, 0]), torch.tensor([0, 1, 2, 3, 4]), most=2)
        tensor([0, 1, 2, 3, 3])
    """
    out = torch.full((len(nodes),), most + 1)
    out[nodes == others] = 0
    ones = torch.ones(len(network.source))
    adjacent = csr_matrix(network.source, network.target, ones, network.n_nodes)
    distinct, place = torch.unique(nodes, return_inverse=True)
    for start in range(0, len(distinct), _BLOCK):
        block = distinct[start : start + _BLOCK]
        mine = ((place >= start) & (place < start + len(block))).nonzero().flatten()
        reached = torch.zeros(network.n_nodes, len(block))
        reached[block, torch.arange(len(block))] = 1.0
        for distance in range(1, most + 1):
            reached = (spmm(adjacent, reached) + reached).clamp_(max=1.0)
            found = reached[others[mine], place[mine] - start] > 0
            out[mine[found]] = out[mine[found]].clamp(max=distance)
    return out
