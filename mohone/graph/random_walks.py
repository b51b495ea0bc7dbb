"""Random walks: their ends, and whole walks of first or second order. The same by seed on any threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core import poisson
from mohone.core.parallel import Array, in_chunks
from mohone.core.random import advance, below, stream, uniform
from mohone.graph.network import Network, WalkableNetwork

_LANES = 128  # Walks taken in turn: while memory looks for the place of one, the others go on.
_TRIES = 1000  # Of a rejection sampler; all but impossible to exhaust.


def poisson_lengths(scales: Sequence[float]) -> np.ndarray:
    """Running sums of the chances of lengths 1, 2, ...: Poisson(scale), equally often each scale, and not 0.

    The end of a walk of such a length is an exact draw from a row of the (mean) heat kernel, given that the
    walk left its node: `exp(-s (I - P)) = sum_k e^-s s^k / k! P^k`.
    """
    longest = max(poisson.longest(1e-16, scale) for scale in scales) + 1
    chances = np.mean([poisson.chances(np.arange(1, longest + 1), scale) for scale in scales], axis=0)
    return np.asarray(np.cumsum(chances / chances.sum()))


def window_lengths(window: int) -> np.ndarray:
    """The same for contexts within a window: distance k as often as word2vec takes it, `window - k + 1`.

    Example:
        >>> window_lengths(3).round(2)
        array([0.5 , 0.83, 1.  ])
    """
    chances = np.arange(window, 0, -1) / (window * (window + 1) / 2)
    return np.asarray(np.cumsum(chances))


def walk_ends(
    network: Network, nodes: Tensor, lengths: np.ndarray, key: int, p: float = 1.0, q: float = 1.0
) -> Tensor:
    """A walk from each node, of a random length, to another node.

    Args:
        nodes: `(n,)`.
        lengths: running sums of the chances of lengths 1, 2, ...
        key: of the random numbers, in [0, 2^63).
        p, q: return and in-out parameter [Grover and Leskovec 2016].

    Returns:
        `(n,)` int64 other nodes; -1 where a node has no neighbour.
    """
    out = np.full(len(nodes), -1, np.int64)
    rows, start_nodes = network.walkable, nodes.numpy()

    def loop(start: int, stop: int) -> None:
        if p == q == 1.0:
            _first_order_ends(rows, start_nodes, lengths, np.uint64(key), start, stop, out)
        else:
            _ends(rows, start_nodes, lengths, p, q, np.uint64(key), start, stop, out)

    in_chunks(loop, len(nodes))
    return torch.from_numpy(out)


def walks(network: Network, nodes: Tensor, length: int, key: int, p: float = 1.0, q: float = 1.0) -> Tensor:
    """A walk of `length` nodes from each of `nodes`, none of them isolated: `(len(nodes), length)` int32."""
    out = np.empty((len(nodes), length), np.int32)
    rows, start_nodes = network.walkable, nodes.numpy()

    def loop(start: int, stop: int) -> None:
        _walks(rows, start_nodes, p, q, np.uint64(key), start, stop, out)

    in_chunks(loop, len(nodes))
    return torch.from_numpy(out)


@njit(cache=True, nogil=True, inline="always")
def _length(lengths: Array, state: np.uint64) -> Any:
    """The length of a walk, by the running sums of chances."""
    chance, n_below = uniform(state), 0
    for k in range(len(lengths)):  # All of them: faster than to search a few.
        n_below += lengths[k] <= chance
    return min(1 + n_below, len(lengths))


@njit(cache=True, nogil=True, inline="always")
def _edge(network: WalkableNetwork, node: int, state: np.uint64) -> Any:
    """The place of an edge of `node`, by weight."""
    first, last = network.starts[node], network.starts[node + 1]
    if len(network.cumulative) == 0:
        return first + below(state, last - first)
    at = first + np.searchsorted(
        network.cumulative[first:last], uniform(state) * network.cumulative[last - 1], side="right"
    )
    return min(at, last - 1)


@njit(cache=True, nogil=True, inline="always")
def _neighbor(network: WalkableNetwork, node: int, state: np.uint64) -> Any:
    """A neighbour of `node`, by weight."""
    return network.target[_edge(network, node, state)]


@njit(cache=True, nogil=True, inline="always")
def _adjacent(network: WalkableNetwork, node: int, other: int) -> Any:
    low, high = network.starts[node], network.starts[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if network.target[middle] < other:
            low = middle + 1
        else:
            high = middle
    return low < network.starts[node + 1] and network.target[low] == other


@njit(cache=True, nogil=True)
def _step(
    network: WalkableNetwork,
    before: int,
    node: int,
    p: float,
    q: float,
    state: np.uint64,
) -> Any:
    """The node after `before, node` of a second-order walk, by rejection, and the state after it.

    A neighbour x, drawn by weight, is kept with a chance that is 1/p if x is `before`, 1 if it is adjacent to
    it and 1/q otherwise, over the largest of the three.
    """
    back, away = 1.0 / p, 1.0 / q
    highest, lowest = max(back, 1.0, away), min(1.0, away)
    other = _neighbor(network, node, state)
    for _ in range(_TRIES):
        state = advance(state)
        level = uniform(state) * highest
        if other == before:
            if level < back:
                break
        elif level < lowest or (
            level < max(1.0, away) and level < (1.0 if _adjacent(network, before, other) else away)
        ):
            break
        state = advance(state)
        other = _neighbor(network, node, state)
    return other, advance(state)


@njit(cache=True, nogil=True)
def _next(
    network: WalkableNetwork,
    before: int,
    node: int,
    p: float,
    q: float,
    state: np.uint64,
) -> Any:
    """The next node of a walk, and the state after it; `before` is -1 at its start."""
    if before < 0 or (p == 1.0 and q == 1.0) or network.starts[node + 1] - network.starts[node] == 1:
        return _neighbor(network, node, state), advance(state)
    return _step(network, before, node, p, q, state)


@njit(cache=True, nogil=True)
def _ends(
    network: WalkableNetwork,
    nodes: Array,
    lengths: Array,
    p: float,
    q: float,
    key: np.uint64,
    start: int,
    stop: int,
    out: Array,
) -> None:
    for i in range(start, stop):
        home = nodes[i]
        if network.starts[home] == network.starts[home + 1]:
            continue
        state = stream(key, i)
        for _ in range(_TRIES):
            n_steps = _length(lengths, state)
            state = advance(state)
            before, node = np.int64(-1), np.int64(home)
            for _ in range(n_steps):
                after, state = _next(network, before, node, p, q, state)
                before, node = node, np.int64(after)
            if node != home:
                out[i] = node
                break


@njit(cache=True, nogil=True)
def _first_order_ends(
    network: WalkableNetwork, nodes: Array, lengths: Array, key: np.uint64, start: int, stop: int, out: Array
) -> None:
    """What `_ends` finds with p = q = 1, by the same random numbers."""
    node, left, tries = np.empty(_LANES, np.int64), np.empty(_LANES, np.int64), np.empty(_LANES, np.int64)
    state, going, edge = np.empty(_LANES, np.uint64), np.empty(_LANES, np.int64), np.empty(_LANES, np.int64)
    for first in range(start, stop, _LANES):
        n_going = 0
        for lane in range(min(_LANES, stop - first)):
            home = nodes[first + lane]
            if network.starts[home] < network.starts[home + 1]:
                state[lane], node[lane], tries[lane] = stream(key, first + lane), home, _TRIES
                left[lane], state[lane] = _length(lengths, state[lane]), advance(state[lane])
                going[n_going] = lane
                n_going += 1
        while n_going > 0:
            # A step of each, in two loops in which nothing waits for what memory is asked for.
            for i in range(n_going):
                edge[i] = _edge(network, node[going[i]], state[going[i]])
            for i in range(n_going):
                lane = going[i]
                node[lane], state[lane] = network.target[edge[i]], advance(state[lane])
                left[lane] -= 1
            n_before, n_going = n_going, 0
            for lane in going[:n_before]:
                if left[lane] == 0:
                    if node[lane] != nodes[first + lane]:
                        out[first + lane] = node[lane]
                        continue
                    tries[lane] -= 1
                    if tries[lane] == 0:
                        continue
                    left[lane], state[lane] = _length(lengths, state[lane]), advance(state[lane])
                going[n_going] = lane
                n_going += 1


@njit(cache=True, nogil=True)
def _walks(
    network: WalkableNetwork,
    nodes: Array,
    p: float,
    q: float,
    key: np.uint64,
    start: int,
    stop: int,
    out: Array,
) -> None:
    for i in range(start, stop):
        state = stream(key, i)
        before, node = np.int64(-1), np.int64(nodes[i])
        out[i, 0] = node
        for step in range(1, out.shape[1]):
            after, state = _next(network, before, node, p, q, state)
            before, node = node, np.int64(after)
            out[i, step] = node
