"""Heat from one entity in a large network: followed while it is worth it, then taken as spread by degrees."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.latest import Latest
from mohone.core.parallel import Array, in_chunks
from mohone.evidence.expert import BlockAdder, arrays_of
from mohone.evidence.found import Found, add_block, ascending, is_run, look_up
from mohone.evidence.heat_flow import Flow, Followed, follow
from mohone.graph.network import Network


class ThinHeat:
    """Values where heat was followed, and what degrees tell of all others.

    Args:
        network: where heat flows.
        chances: `(n_scales, n_steps + 1)` float32: how likely heat takes a walk of 0, 1, 2, ... steps.
        epsilon: a share of heat that is as good as none.
        thinnest: the least share of heat that is followed.
    """

    def __init__(self, network: Network, chances: Array, epsilon: float, thinnest: float) -> None:
        walkable = network.walkable
        self._flow = Flow(walkable.starts, walkable.target, chances, thinnest, epsilon)
        self._classes = _degree_classes(self._flow)
        self._latest = Latest[Followed]()

    def add_to(self, scores: Tensor, known: Tensor, weights: Tensor) -> None:
        """Add the weighted values of all entities."""
        self.block_adder(known, weights)(scores, torch.arange(scores.shape[1]))

    def block_adder(self, known: Tensor, weights: Tensor) -> BlockAdder:
        """What degrees tell of a block of candidates, and what differs from it where heat was followed."""
        spread = _spread_of(self._flow, self._classes, *self._follow(known), *arrays_of(weights))
        return lambda scores, candidates: _add_spread(spread, candidates.numpy(), scores.numpy())

    def at(self, known: Tensor, candidates: Tensor) -> Tensor:
        """The values of candidates `(batch, k)`: `(batch, k, n_scales)` float32."""
        return torch.from_numpy(_heat_at(self._flow, *self._follow(known), *arrays_of(candidates)))

    def _follow(self, known: Tensor) -> tuple[Followed, Array]:
        """Heat from the distinct ones of the entities, and which of these each is.

        A mix lists the best candidates of some queries, and is then asked for the values of these: heat is
        followed once for both.
        """
        each, place = np.unique(known.numpy(), return_inverse=True)
        return self._latest(partial(follow, self._flow), each), place


def _heat_at(flow: Flow, followed: Followed, place: Array, candidates: Array) -> Array:
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


def _degree_classes(flow: Flow) -> DegreeClasses:
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


def _spread_of(
    flow: Flow, classes: DegreeClasses, followed: Followed, place: Array, weights: Array
) -> Spread:
    """The values of `_heat_at` summed by weights `(batch, n_scales)`, for all candidates."""
    starts = np.concatenate([[0], np.cumsum(np.diff(followed.found.starts)[place])])
    general = np.zeros((len(place), len(classes.shares)), np.float32)
    found = Found(starts, np.empty(starts[-1], np.int32), np.empty((starts[-1], 1), np.float32))
    arrays = flow.epsilon, classes, followed, place, weights

    def loop(start: int, stop: int) -> None:
        _weigh(*arrays, start, stop, general, found)

    in_chunks(loop, len(place), least=8)
    return Spread(classes, general, ascending(found))


def _add_spread(spread: Spread, candidates: Array, scores: Array) -> None:
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
