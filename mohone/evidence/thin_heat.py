"""Heat from one entity in a large network: followed while it is worth it, then taken as spread by degrees."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mohone.core.parallel import Array, in_chunks
from mohone.evidence.found import Found, add_block, ascending, find, is_run, look_up, with_room


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


def heat_at(flow: Flow, followed: Followed, place: Array, candidates: Array) -> Array:
    """`log(heat + epsilon) - log(share of degrees + epsilon)` of candidates `(batch, k)`.

    Args:
        flow: where heat flows.
        followed: from the known entities.
        place: `(batch,)` which of these is whose.
        candidates: of each.

    Returns:
        `(batch, k, n_scales)` float32; 0 where the known entity is isolated.
    """
    heat = look_up(followed.found, place, candidates, len(flow.starts) - 1)
    share = ((flow.starts[candidates + 1] - flow.starts[candidates]) / max(1, len(flow.target)))[:, :, None]
    values = np.log(heat + followed.lost[place, None] * share + flow.epsilon) - np.log(share + flow.epsilon)
    values[np.diff(followed.found.starts)[place] == 0] = 0.0
    out: Array = values.astype(np.float32)
    return out


class DegreeClasses(NamedTuple):
    """Entities by degree: where no heat was followed to, equal degrees have equal values.

    Attributes:
        of: `(n_entities,)` int32: the class of each.
        shares: `(n_classes,)` float64: of all degrees, the one that an entity of the class has.
    """

    of: Array
    shares: Array


def degree_classes(flow: Flow) -> DegreeClasses:
    """The distinct degrees of a network."""
    degrees, of = np.unique(np.diff(flow.starts), return_inverse=True)
    return DegreeClasses(of.astype(np.int32), degrees / max(1, len(flow.target)))


class Spread(NamedTuple):
    """The weighted values of all entities for some queries.

    Attributes:
        classes: of entities.
        general: `(batch, n_classes)` float32: the sum where no heat was followed to.
        found: by how much it is another where it was.
    """

    classes: DegreeClasses
    general: Array
    found: Found


def spread_of(flow: Flow, classes: DegreeClasses, followed: Followed, place: Array, weights: Array) -> Spread:
    """The values of `heat_at` summed by weights `(batch, n_scales)`, for all candidates."""
    starts = np.concatenate([[0], np.cumsum(np.diff(followed.found.starts)[place])])
    general = np.zeros((len(place), len(classes.shares)), np.float32)
    found = Found(starts, np.empty(starts[-1], np.int32), np.empty((starts[-1], 1), np.float32))
    arrays = flow.epsilon, classes, followed, place, weights

    def loop(start: int, stop: int) -> None:
        _weigh(*arrays, start, stop, general, found)

    in_chunks(loop, len(place), least=8)
    return Spread(classes, general, ascending(found))


def add_spread(spread: Spread, candidates: Array, scores: Array) -> None:
    """Add the values of candidates `(k,)` to their scores `(batch, k)`, in place."""
    own = spread.classes.of
    own = own[candidates[0] : candidates[-1] + 1] if is_run(candidates) else own[candidates]
    in_chunks(
        lambda start, stop: _add_general(spread.general, own, start, stop, scores), len(scores), least=8
    )
    add_block(spread.found, np.arange(len(scores)), candidates, scores)


@njit(cache=True, nogil=True)
def _add_general(general: Array, classes: Array, start: int, stop: int, scores: Array) -> None:
    for i in range(start, stop):
        row, values = scores[i], general[i]
        for j in range(len(classes)):
            row[j] += values[classes[j]]


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
def _weigh(
    epsilon: float,
    classes: DegreeClasses,
    followed: Followed,
    place: Array,
    weights: Array,
    start: int,
    stop: int,
    general: Array,
    found: Found,
) -> None:
    """Write what degrees tell of each query to `general`, and to `found` what differs from it."""
    n_scales = weights.shape[1]
    for i in range(start, stop):
        first, last = followed.found.starts[place[i]], followed.found.starts[place[i] + 1]
        if first == last:
            continue
        lost = followed.lost[place[i]]
        for j in range(len(classes.shares)):
            share, total = classes.shares[j], 0.0
            for scale in range(n_scales):
                beside = lost[scale] * share + epsilon
                total += weights[i, scale] * math.log(beside / (share + epsilon))
            general[i, j] = total
        for at in range(first, last):
            entity, out = followed.found.entities[at], found.starts[i] + at - first
            share, total = classes.shares[classes.of[entity]], 0.0
            for scale in range(n_scales):
                beside = lost[scale] * share + epsilon
                total += weights[i, scale] * math.log((followed.found.values[at, scale] + beside) / beside)
            found.entities[out], found.values[out, 0] = entity, total


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
