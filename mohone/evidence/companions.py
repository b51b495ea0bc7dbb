"""Which answers go with which edges: rules of one edge for one relation, counted over all entities."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mohone.core.parallel import Array
from mohone.evidence.facts import Facts, span
from mohone.evidence.found import find, with_room

MIN_HITS = 2
MIN_CONFIDENCE = 0.01
PRIOR = 5  # Pairs that contradict, added to those that are seen.
MOST_ANSWERS = 1_000  # Of a holder that counts, where the rules of some slots are counted alone.
FLOOR = 1e-3  # Of a chance, before its logarithm.


class Companions(NamedTuple):
    """The rules from slots to answers of one relation, as they are for an entity of the slot.

    Attributes:
        slots: `(n_asked,)` int64, ascending: whose rules these are; empty: of all slots.
        starts: `(n_asked + 1,)` int64, or `(n_slots + 1,)`: where each slot's rules start.
        answers: `(n_rules,)` int32.
        chances: `(n_rules, 4)` float32: the confidence, and `log(1 - confidence)`, for an entity that has not
            the answer; then the same for one that has it and is no witness itself. 0: there is no rule.
    """

    slots: Array
    starts: Array
    answers: Array
    chances: Array


def count_companions(facts: Facts, relation: int, slots: Array | None = None) -> Companions:
    """The rules for one directed relation.

    Args:
        facts: of the training triples.
        relation: directed.
        slots: those whose rules are asked for, distinct and ascending; None: all. Of few slots the cost is
            that of their holders, whatever the size of the graph; of these, who has more than 1,000 answers
            counts as having none: rules from one edge to so many say little, and would cost the square.
    """
    if slots is None:
        slots = np.empty(0, np.int64)
        holders = _holders(facts, relation)
    else:
        holders = _holders_of(facts, relation, slots)
    found = find(
        lambda start, stop: _companions(facts, relation, slots, *holders, start, stop), len(holders[0]) - 1
    )
    return Companions(slots, *found)


@njit(cache=True, nogil=True, inline="always")
def log_chance(chance: np.float32) -> Any:
    """`log(chance + 1e-3) - log 1e-3`, in single precision: it takes a fifth of the time."""
    return math.log(chance * np.float32(1.0 / FLOOR) + np.float32(1.0))


@njit(cache=True, nogil=True)
def _confidence(hits: int, n: int) -> Any:
    """Of a rule with so many hits among n, 0 if it is none."""
    confidence = np.float32(hits / (n + PRIOR))
    return confidence if hits >= MIN_HITS and confidence > MIN_CONFIDENCE else np.float32(0.0)


@njit(cache=True, nogil=True)
def _holders(facts: Facts, relation: int) -> Any:
    """The entities that have the relation, by slot: where each slot's begin, and they."""
    first, last = facts.slot_starts[relation], facts.slot_starts[relation + 1]
    sizes = np.zeros(len(facts.slot_entity) + 1, np.int64)
    for at in range(first, last):
        entity = facts.slot_entity[at]
        for edge in range(facts.starts[entity], facts.starts[entity + 1]):
            sizes[facts.slot_of[edge] + 1] += 1
    begins = np.cumsum(sizes)
    holders, fill = np.empty(begins[-1], np.int32), begins[:-1].copy()
    for at in range(first, last):
        entity = facts.slot_entity[at]
        for edge in range(facts.starts[entity], facts.starts[entity + 1]):
            holders[fill[facts.slot_of[edge]]] = entity
            fill[facts.slot_of[edge]] += 1
    return begins, holders


@njit(cache=True, nogil=True)
def _holders_of(facts: Facts, relation: int, slots: Array) -> Any:
    """The same of some slots, without those of many answers."""
    has = np.zeros(len(facts.starts) - 1, np.bool_)
    for at in range(facts.slot_starts[relation], facts.slot_starts[relation + 1]):
        has[facts.slot_entity[at]] = facts.slot_size[at] <= MOST_ANSWERS
    begins, holders, size = np.zeros(len(slots) + 1, np.int64), np.empty(1024, np.int32), 0
    for i in range(len(slots)):
        of = np.searchsorted(facts.slot_starts, slots[i], side="right") - 1
        low, high = span(facts, facts.slot_entity[slots[i]], of)
        if size + high - low > len(holders):
            more = np.empty(max(size + high - low, 2 * len(holders)), np.int32)
            more[:size] = holders[:size]
            holders = more
        for edge in range(low, high):
            holders[size] = facts.target[edge]
            size += has[facts.target[edge]]
        begins[i + 1] = size
    return begins, holders[:size]


@njit(cache=True, nogil=True)
def _companions(
    facts: Facts, relation: int, slots: Array, begins: Array, holders: Array, start: int, stop: int
) -> Any:
    """The companions of slots, from one place of `slots` to another, or of all slots if it is empty.

    Gives how many each has, their answers and chances.
    """
    width = len(facts.slot_starts) - 1
    inverse = (relation + facts.n_relations) % width
    own_slots = facts.slot_starts[inverse], facts.slot_starts[inverse + 1]
    count = np.zeros(len(facts.starts) - 1, np.int32)
    touched = np.empty(len(count) + 1, np.int32)
    counts = np.zeros(stop - start, np.int64)
    answers, chances = np.empty(1024, np.int32), np.empty((1024, 4), np.float32)
    size = 0
    for place in range(start, stop):
        if begins[place + 1] - begins[place] < MIN_HITS:
            continue
        slot, first, n_touched = slots[place] if len(slots) else place, size, 0
        for at in range(begins[place], begins[place + 1]):
            low, high = span(facts, holders[at], relation)
            for edge in range(low, high):
                answer = facts.target[edge]
                touched[n_touched] = answer  # Without a branch: none could be foretold.
                n_touched += count[answer] == 0
                count[answer] += 1
        answers, chances = with_room(answers, chances, size + n_touched)
        for j in range(n_touched):
            hits = count[touched[j]]
            # The edge (r, t) goes with (r, t) always.
            itself = own_slots[0] <= slot < own_slots[1] and facts.slot_entity[slot] == touched[j]
            confidence = _confidence(hits, facts.slot_size[slot] - 1)
            if not itself and confidence > 0.0:
                without = _confidence(hits - 1, facts.slot_size[slot] - 1)
                answers[size] = touched[j]
                chances[size, 0], chances[size, 1] = confidence, math.log1p(-confidence)
                chances[size, 2], chances[size, 3] = without, math.log1p(-without)
                size += 1
            count[touched[j]] = 0
        counts[place - start] = size - first
    return counts, answers[:size].copy(), chances[:size].copy()
