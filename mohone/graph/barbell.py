"""The bar-bell graph of the paper's figures: two cliques joined by a path, three roles."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.graph.network import Network

INSIDE, DOOR = -2, -1  # Roles of a bell's nodes; those on the path count from 0, from each end.


def barbell(bell: int = 10, path: int = 10) -> tuple[Network, Tensor]:
    """The graph, nodes from left to right, and the role of each: in a bell, its door, by place on the path.

    Args:
        bell: nodes of each clique, the door among them.
        path: nodes between the doors.

    Example:
        >>> network, roles = barbell(bell=3, path=2)
        >>> network.n_nodes, network.n_edges, roles.tolist()
        (8, 9, [-2, -2, -1, 0, 0, -1, -2, -2])
    """
    left, right = range(bell), range(bell + path, 2 * bell + path)
    edges = [(a, b) for side in (left, right) for a in side for b in side if a < b]
    edges += [(a, a + 1) for a in range(bell - 1, bell + path)]
    pairs = torch.tensor(edges)
    on_path = [min(i, path - 1 - i) for i in range(path)]
    inside = [INSIDE] * (bell - 1)
    roles = [*inside, DOOR, *on_path, DOOR, *inside]
    return Network.from_edges(pairs[:, 0], pairs[:, 1], 2 * bell + path), torch.tensor(roles)
