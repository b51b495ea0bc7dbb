"""What sparse experts find for a batch of queries: a few entities each, with their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mohone.core.parallel import Array, in_chunks

Part = tuple[Array, Array, Array]
_LEAST = 8  # Queries that are worth a thread.


class Found(NamedTuple):
    """Values of entities for each query; all other entities have values of zero.

    Attributes:
        starts: `(batch + 1,)` int64: where each query's entities start.
        entities: `(n_found,)` int32, none twice in a query.
        values: `(n_found, n_values)` float32.
    """

    starts: Array
    entities: Array
    values: Array


def find(loop: Callable[[int, int], Part], n_queries: int) -> Found:
    """Run a compiled loop over the queries, on all threads.

    Args:
        loop: from a query to a query; gives how many entities it found for each, the entities, their values.
        n_queries: in all.
    """
    parts: dict[int, Part] = {}

    def chunk(start: int, stop: int) -> None:
        parts[start] = loop(start, stop)

    in_chunks(chunk, n_queries, least=_LEAST)
    counts, entities, values = (
        np.concatenate([parts[start][i] for start in sorted(parts)]) if len(parts) > 1 else parts[0][i]
        for i in range(3)
    )
    starts = np.zeros(n_queries + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return Found(starts, entities, values)


def add_found(found: Found, weights: Array, scores: Array) -> None:
    """Add `weights * values` to `scores`, `(batch, n_entities)`, in place; weights `(batch, n_values)`."""
    in_chunks(lambda start, stop: _add(found, weights, start, stop, scores), len(scores), least=_LEAST)


def summed(found: Found, weights: Array) -> Found:
    """The sum of each entity's values by the weights of its query, `(batch, n_values)`: one value each.

    Each query's entities are in ascending order then.
    """
    sums = np.empty((len(found.entities), 1), np.float32)
    in_chunks(
        lambda start, stop: _sum(found, weights, start, stop, sums), len(found.starts) - 1, least=_LEAST
    )
    return ascending(found._replace(values=sums))


def ascending(found: Found) -> Found:
    """The same, of one value, with each query's entities in ascending order."""
    if _is_ascending(found):
        return found
    # An entity and its value are one number, so that a plain sort takes both.
    codes = found.entities.astype(np.int64) << 32 | found.values[:, 0].view(np.uint32)

    def sort(start: int, stop: int) -> None:
        for i in range(start, stop):
            codes[found.starts[i] : found.starts[i + 1]].sort()

    in_chunks(sort, len(found.starts) - 1, least=_LEAST)
    values = (codes & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
    return Found(found.starts, (codes >> 32).astype(np.int32), values[:, None])


def add_block(found: Found, place: Array, candidates: Array, scores: Array) -> None:
    """Add the values of candidates for the queries `place` to their scores, in place.

    Args:
        found: of one value, ascending.
        place: `(batch,)`.
        candidates: `(k,)`, quickest where each is the one before plus 1.
        scores: `(batch, k)`.
    """
    is_range = is_run(candidates)
    in_chunks(
        lambda start, stop: _add_block(found, place, candidates, is_range, start, stop, scores),
        len(scores),
        least=_LEAST,
    )


def is_run(candidates: Array) -> bool:
    """Is each of the candidates the one before plus 1?"""
    return bool((candidates == candidates[0] + np.arange(len(candidates))).all())


def look_up(found: Found, place: Array, candidates: Array, n_entities: int) -> Array:
    """The values of candidates `(batch, k)` of the queries `place`: `(batch, k, n_values)` float32."""
    out = np.zeros((*candidates.shape, found.values.shape[1]), np.float32)
    in_chunks(
        lambda start, stop: _look_up(found, place, candidates, n_entities, start, stop, out),
        len(candidates),
        least=_LEAST,
    )
    return out


@njit(cache=True, nogil=True)
def with_room(entities: Array, values: Array, n: int) -> Any:
    """The two arrays, or larger copies of them, so that they hold n rows."""
    if n <= len(entities):
        return entities, values
    size = max(n, 2 * len(entities))
    more_entities = np.empty(size, np.int32)
    more_values = np.empty((size, values.shape[1]), np.float32)
    more_entities[: len(entities)] = entities
    more_values[: len(values)] = values
    return more_entities, more_values


@njit(cache=True, nogil=True)
def _weighed(weights: Array, values: Array) -> Any:
    """The sum of one entity's values by the weights of a query."""
    total = np.float32(0.0)
    for j in range(len(weights)):
        total += weights[j] * values[j]
    return total


@njit(cache=True, nogil=True)
def _add(found: Found, weights: Array, start: int, stop: int, scores: Array) -> None:
    for i in range(start, stop):
        for at in range(found.starts[i], found.starts[i + 1]):
            scores[i, found.entities[at]] += _weighed(weights[i], found.values[at])


@njit(cache=True, nogil=True)
def _look_up(
    found: Found, place: Array, candidates: Array, n_entities: int, start: int, stop: int, out: Array
) -> None:
    where = np.full(n_entities, -1, np.int64)
    for i in range(start, stop):
        first, last = found.starts[place[i]], found.starts[place[i] + 1]
        for at in range(first, last):
            where[found.entities[at]] = at
        for j in range(candidates.shape[1]):
            at = where[candidates[i, j]]
            if at >= 0:
                out[i, j] = found.values[at]
        for at in range(first, last):
            where[found.entities[at]] = -1


@njit(cache=True, nogil=True)
def _is_ascending(found: Found) -> Any:
    for i in range(len(found.starts) - 1):
        for at in range(found.starts[i] + 1, found.starts[i + 1]):
            if found.entities[at] < found.entities[at - 1]:
                return False
    return True


@njit(cache=True, nogil=True)
def _sum(found: Found, weights: Array, start: int, stop: int, out: Array) -> None:
    for i in range(start, stop):
        for at in range(found.starts[i], found.starts[i + 1]):
            out[at, 0] = _weighed(weights[i], found.values[at])


@njit(cache=True, nogil=True)
def _add_block(
    found: Found, place: Array, candidates: Array, is_range: bool, start: int, stop: int, scores: Array
) -> None:
    for i in range(start, stop):
        first = found.starts[place[i]]
        own = found.entities[first : found.starts[place[i] + 1]]
        if is_range:
            for at in range(np.searchsorted(own, candidates[0]), len(own)):
                j = own[at] - candidates[0]
                if j >= len(candidates):
                    break
                scores[i, j] += found.values[first + at, 0]
            continue
        for j in range(len(candidates)):
            at = np.searchsorted(own, candidates[j])
            if at < len(own) and own[at] == candidates[j]:
                scores[i, j] += found.values[first + at, 0]
