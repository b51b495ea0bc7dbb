"""How many edges apart nodes are, up to a few."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array, in_chunks
from mohone.graph.network import Network


def distances(network: Network, nodes: Tensor, others: Tensor, most: int = 3) -> Tensor:
    """Edges on a shortest path between each pair, `most + 1` for all that is farther: `(n,)` int64.

    Steps are taken from the end with fewer neighbours, until what is near the other end is met.

    Args:
        network: of N nodes; a few times N numbers are held.
        nodes, others: `(n,)` of each pair.
        most: up to which distances are told apart.

    Example:
        >>> path = Network.from_edges(torch.tensor([0, 1, 2]), torch.tensor([1, 2, 3]), 5)
        >>> distances(path, torch.tensor([0, 0, 0, 0, 0]), torch.tensor([0, 1, 2, 3, 4]), most=2)
        tensor([0, 1, 2, 3, 3])
    """
    degrees, target = network.degrees, network.target.numpy()
    starts = np.zeros(network.n_nodes + 1, np.int64)
    np.cumsum(degrees.numpy(), out=starts[1:])
    swapped = degrees[nodes] > degrees[others]
    first = torch.where(swapped, others, nodes).numpy()
    last = torch.where(swapped, nodes, others).numpy()
    out = np.full(len(nodes), most + 1)
    in_chunks(lambda start, stop: _distances(starts, target, first, last, most, start, stop, out), len(out))
    return torch.from_numpy(out)


@njit(cache=True, nogil=True)
def _distances(
    starts: Array, target: Array, first: Array, last: Array, most: int, start: int, stop: int, out: Array
) -> None:
    n = len(starts) - 1
    # Which pair has come to a node last, from either end, and how far the node is from the pair's last.
    seen, near = np.full(n, -1), np.full(n, -1)
    depth, queue = np.zeros(n, np.int32), np.empty(n, np.int64)
    for pair in range(start, stop):
        _walk(starts, target, last[pair], most // 2, pair, near, depth, queue)
        out[pair] = _meet(starts, target, first[pair], most, pair, seen, near, depth, queue)


@njit(cache=True, nogil=True)
def _walk(
    starts: Array, target: Array, node: int, radius: int, pair: int, near: Array, depth: Array, queue: Array
) -> None:
    """Mark what is at most `radius` edges from a node, with its distance."""
    near[node], depth[node], queue[0] = pair, 0, node
    at, size = 0, 1
    while at < size and depth[queue[at]] < radius:
        here = queue[at]
        for edge in range(starts[here], starts[here + 1]):
            there = target[edge]
            if near[there] != pair:
                near[there], depth[there] = pair, depth[here] + 1
                queue[size] = there
                size += 1
        at += 1


@njit(cache=True, nogil=True)
def _meet(
    starts: Array,
    target: Array,
    node: int,
    most: int,
    pair: int,
    seen: Array,
    near: Array,
    depth: Array,
    queue: Array,
) -> Any:
    """The distance of a node to the one that nodes are marked around."""
    if near[node] == pair:
        return depth[node]
    seen[node], queue[0] = pair, node
    at, size = 0, 1
    for steps in range(1, most - most // 2 + 1):
        level = size
        while at < level:
            here = queue[at]
            for edge in range(starts[here], starts[here + 1]):
                there = target[edge]
                if near[there] == pair:  # At the rim: what lies inside is reached through it.
                    return steps + depth[there]
                if seen[there] != pair:
                    seen[there] = pair
                    queue[size] = there
                    size += 1
            at += 1
    return most + 1
