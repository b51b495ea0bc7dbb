"""Rules that typed walks support: which bodies go with which relation, counted from a sample of entities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from mohone.core.errors import ConfigError
from mohone.core.parallel import Array, in_chunks
from mohone.core.random import stream
from mohone.evidence.companions import MIN_HITS, PRIOR
from mohone.evidence.facts import Facts

_LARGEST = 2**62
_MOST = 64


def mine_rules(
    facts: Facts, longest: int, n_heads: int, min_confidence: float, seed: int
) -> tuple[Array, Array, Array]:
    """The rules `body -> relation` (see `Paths`), by relation, then body.

    Returns:
        bodies `(n_rules, longest)` int32, -1 after the last relation; confidences `(n_rules,)` float64; where
        each directed relation's rules start `(2 R + 1,)` int64.

    Raises:
        ConfigError: where there are so many relations that bodies cannot be numbered.
    """
    width = 2 * facts.n_relations + 1  # Digit 0 ends a body.
    if longest > most_numbered(facts):
        raise ConfigError(f"`longest` must be smaller for {facts.n_relations:,} relations, but is {longest}.")
    heads = sample_heads(facts, n_heads, seed)
    parts: dict[int, tuple[Array, Array, Array, Array]] = {}

    def loop(start: int, stop: int) -> None:
        parts[start] = _count_bodies(facts, heads, longest, start, stop)

    in_chunks(loop, len(heads), least=8)
    bodies, n_joined = _sums([(part[0], part[1]) for part in parts.values()])
    rules, hits = _sums([(part[2], part[3]) for part in parts.values()])
    rule_bodies, relation = np.divmod(rules, width)
    confidences = hits / (n_joined[np.searchsorted(bodies, rule_bodies)] + PRIOR)
    kept = np.flatnonzero((hits >= MIN_HITS) & (confidences > min_confidence) & (rule_bodies != relation + 1))
    kept = kept[np.lexsort((rule_bodies[kept], relation[kept]))]
    starts = np.zeros(width, np.int64)
    np.cumsum(np.bincount(relation[kept], minlength=width - 1), out=starts[1:])
    return _digits(rule_bodies[kept], width, longest), confidences[kept], starts


def most_numbered(facts: Facts) -> int:
    """Relations of the longest bodies that can be numbered together with a relation and with an entity."""
    width, longest = 2 * facts.n_relations + 1, 0
    while width ** (longest + 2) * max(1, facts.n_entities) <= _LARGEST and longest < _MOST:
        longest += 1
    return longest


def sample_heads(facts: Facts, n: int, seed: int) -> Array:
    """So many of the entities that have an edge, or all of them if they are fewer; ascending."""
    connected = np.flatnonzero(np.diff(facts.starts))
    draws = _draws(np.uint64(seed), connected)
    return np.sort(connected[np.argsort(draws, kind="stable")[:n]])


@njit(cache=True, nogil=True)
def _draws(key: np.uint64, numbers: Array) -> Any:
    out = np.empty(len(numbers), np.uint64)
    for i in range(len(numbers)):
        out[i] = stream(key, numbers[i])
    return out


def _sums(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The distinct codes, ascending, and the sum of the counts of each."""
    codes, counts = (np.concatenate([part[i] for part in parts]) for i in range(2))
    distinct, places = np.unique(codes, return_inverse=True)
    return distinct, np.bincount(places, weights=counts, minlength=len(distinct)).astype(np.int64)


def _digits(codes: Array, width: int, longest: int) -> Array:
    """Bodies of their codes: the first relation is the highest digit."""
    out = np.full((len(codes), longest), -1, np.int32)
    lengths = np.searchsorted(width ** np.arange(1, longest + 1), codes, side="right") + 1
    for place in range(longest):
        there = place < lengths
        shift = width ** np.maximum(lengths - 1 - place, 0)
        out[there, place] = (codes // shift % width)[there] - 1
    return out


@njit(cache=True, nogil=True)
def _count_bodies(facts: Facts, heads: Array, longest: int, start: int, stop: int) -> Any:
    """Of each body (code) how many pairs it joins, and of each body and relation how many both do."""
    n, width = len(facts.starts) - 1, 2 * facts.n_relations + 1
    bodies, n_joined = np.empty(1024, np.int64), np.empty(1024, np.int64)
    rules, hits = np.empty(1024, np.int64), np.empty(1024, np.int64)
    n_bodies, n_rules = 0, 0
    latest = np.full(n, -1, np.int64)  # The last edge of the head to each entity; `before` chains them.
    walks = np.empty(1024, np.int64)
    for i in range(start, stop):
        head = heads[i]
        first, last = facts.starts[head], facts.starts[head + 1]
        before = np.empty(last - first, np.int64)
        for edge in range(first, last):
            before[edge - first] = latest[facts.target[edge]]
            latest[facts.target[edge]] = edge
        low = first
        while low < last:  # One first relation after the other: the walks of one fit in memory.
            high = low
            while high < last and facts.relation[high] == facts.relation[low]:
                high += 1
            walks, n_walks = _walk(facts, head, low, high, longest, walks)
            pairs = _distinct(walks[:n_walks])
            both, n_both = np.empty(len(pairs), np.int64), 0
            at = 0
            while at < len(pairs):
                body, begin = pairs[at] // n, at
                while at < len(pairs) and pairs[at] // n == body:
                    edge = latest[pairs[at] % n]
                    while edge >= 0:
                        both = _room(both, n_both + 1)
                        both[n_both] = body * width + facts.relation[edge]
                        n_both += 1
                        edge = before[edge - first]
                    at += 1
                bodies, n_joined = _room(bodies, n_bodies + 1), _room(n_joined, n_bodies + 1)
                bodies[n_bodies], n_joined[n_bodies] = body, at - begin
                n_bodies += 1
            both = np.sort(both[:n_both])
            at = 0
            while at < n_both:
                begin = at
                while at < n_both and both[at] == both[begin]:
                    at += 1
                rules, hits = _room(rules, n_rules + 1), _room(hits, n_rules + 1)
                rules[n_rules], hits[n_rules] = both[begin], at - begin
                n_rules += 1
            low = high
        for edge in range(first, last):
            latest[facts.target[edge]] = -1
    return bodies[:n_bodies], n_joined[:n_bodies], rules[:n_rules], hits[:n_rules]


@njit(cache=True, nogil=True)
def _walk(facts: Facts, head: int, low: int, high: int, longest: int, walks: Array) -> Any:
    """Body and end, in one number, of all simple paths from `head` by the edges `low` to `high`."""
    n, width = len(facts.starts) - 1, 2 * facts.n_relations + 1
    nodes, codes = np.empty(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    at, last = np.empty(longest, np.int64), np.empty(longest, np.int64)
    nodes[0], at[0], last[0] = head, low, high
    depth, size = 0, 0
    while depth >= 0:
        if at[depth] == last[depth]:
            depth -= 1
            continue
        edge = at[depth]
        at[depth] += 1
        node = facts.target[edge]
        passed = False
        for i in range(depth + 1):
            passed |= nodes[i] == node
        if passed:
            continue
        code = codes[depth] * width + facts.relation[edge] + 1
        walks = _room(walks, size + 1)
        walks[size] = code * n + node
        size += 1
        if depth + 1 < longest:
            depth += 1
            nodes[depth], codes[depth] = node, code
            at[depth], last[depth] = facts.starts[node], facts.starts[node + 1]
    return walks, size


@njit(cache=True, nogil=True)
def _distinct(codes: Array) -> Any:
    codes = np.sort(codes)
    size = 0
    for i in range(len(codes)):
        if i == 0 or codes[i] != codes[i - 1]:
            codes[size] = codes[i]
            size += 1
    return codes[:size]


@njit(cache=True, nogil=True, inline="always")
def _room(array: Array, n: int) -> Any:
    """The array, or a copy twice as long, so that it holds n numbers."""
    if n <= len(array):
        return array
    more = np.empty(max(n, 2 * len(array)), array.dtype)
    more[: len(array)] = array
    return more
