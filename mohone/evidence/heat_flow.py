"""Heat followed from one entity while it is worth it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mohone.core.parallel import Array
from mohone.evidence.found import Found, find, with_room


class Flow(NamedTuple):
    """Where heat flows, for compiled loops.

    Attributes:
        starts, target: rows of neighbours, as `WalkableNetwork` has them.
        chances: `(n_scales, n_steps + 1)` float32: how likely heat takes a walk of 0, 1, 2, ... steps.
        thinnest: heat of which each neighbour would get less than this is followed no further: from there
            on it counts as spread over all entities by their degrees, which is where all heat ends.
        epsilon: a share of heat that is as good as none.
    """

    starts: Array
    target: Array
    chances: Array
    thinnest: float
    epsilon: float


class Followed(NamedTuple):
    """Heat from some entities, as far as it was worth following.

    Attributes:
        found: where it came to, with the heat at each scale; nowhere from an isolated entity.
        lost: `(n, n_scales)` float64: heat that counts as spread by degrees.
    """

    found: Found
    lost: Array


def follow(flow: Flow, known: Array) -> Followed:
    """Follow the heat from entities `(n,)`.

    The cost of each is at most `n_steps / thinnest` steps to a neighbour, whatever the network's size.
    """
    lost = np.zeros((len(known), len(flow.chances)))
    return Followed(find(lambda start, stop: _follow(flow, known, start, stop, lost), len(known)), lost)


@njit(cache=True, nogil=True)
def _follow(flow: Flow, known: Array, start: int, stop: int, lost: Array) -> Any:
    """Set what is lost of each entity's heat; give where the rest came to, as `find` wants it."""
    n, n_scales = len(flow.starts) - 1, len(flow.chances)
    heat = np.zeros((n, n_scales), np.float32)
    room = np.zeros(n, np.float32), np.zeros(n, np.float32), np.empty(n, np.int32), np.empty(n, np.int32)
    touched, counts = np.empty(n, np.int32), np.zeros(stop - start, np.int64)
    entities, values, size = np.empty(1024, np.int32), np.empty((1024, n_scales), np.float32), 0
    for i in range(start, stop):
        if flow.starts[known[i]] == flow.starts[known[i] + 1]:
            continue
        n_touched = _spread_thin(flow, known[i], heat, lost[i], room, touched)
        entities, values = with_room(entities, values, size + n_touched)
        for at in range(n_touched):
            entity = touched[at]
            entities[size + at] = entity
            for scale in range(n_scales):
                values[size + at, scale] = heat[entity, scale]
                heat[entity, scale] = 0.0
        counts[i - start] = n_touched
        size += n_touched
    return counts, entities[:size], values[:size]


@njit(cache=True, nogil=True)
def _spread_thin(flow: Flow, node: int, heat: Array, lost: Array, room: Any, touched: Array) -> Any:
    """Add the heat from `node` to rows of `heat`, and set `lost`: the shares that degrees tell.

    Returns:
        how many rows were touched; which ones is in `touched`.
    """
    now, after, here, there = room
    n_scales = len(lost)
    n_here, n_touched, thin = 1, 1, 0.0
    here[0] = touched[0] = node
    now[node] = 1.0
    # A touched row that has no heat yet is told from others by this, too small to count.
    tiny = np.float32(1e-30)
    for scale in range(n_scales):
        heat[node, scale] = flow.chances[scale, 0] + tiny
        lost[scale] = 0.0
    for step in range(1, flow.chances.shape[1]):
        n_there = 0
        for at in range(n_here):
            one = here[at]
            mass = now[one]
            now[one] = 0.0
            first, last = flow.starts[one], flow.starts[one + 1]
            portion = np.float32(mass / (last - first))
            if portion < flow.thinnest:
                thin += mass
                continue
            for edge in range(first, last):
                other = flow.target[edge]
                if after[other] == 0.0:
                    there[n_there] = other
                    n_there += 1
                after[other] += portion
        for at in range(n_there):
            other = there[at]
            if heat[other, 0] == 0.0:
                touched[n_touched] = other
                n_touched += 1
                for scale in range(n_scales):  # `heat[other] += tiny` would make an array for each.
                    heat[other, scale] += tiny
            for scale in range(n_scales):
                heat[other, scale] += flow.chances[scale, step] * after[other]
        for scale in range(n_scales):
            lost[scale] += flow.chances[scale, step] * thin
        now, after, here, there, n_here = after, now, there, here, n_there
    for at in range(n_here):
        now[here[at]] = 0.0
    return n_touched
