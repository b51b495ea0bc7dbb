"""What goes with having an edge: others that have it, and what they answer."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from mohone.core.arrays import sorted_distinct
from mohone.core.errors import require_int
from mohone.core.parallel import Array
from mohone.evidence.companions import Companions, count_companions, log_chance
from mohone.evidence.expert import SparseExpert
from mohone.evidence.facts import Facts, span
from mohone.evidence.found import Found, find, with_room
from mohone.evidence.reasons import Context, Reason


class Contexts(SparseExpert):
    """Rules from one edge of the known entity: `(h, q, d)` goes with `(h, r, t)`.

    Of the entities other than h that have `(q, d)`, `n` in number, `c` have `(r, t)`, too; the confidence is
    `c / (n + 5)`, if c >= 2 and it is above 0.01. The values are `log(1 - prod(1 - confidence) + 1e-3) - log
    1e-3` over the edges of h, and the same of the best confidence alone. Loops of h are no contexts, nor is
    `(r, t)` one of itself. Rules are counted when their relation is first asked for, and only the relations
    of the latest batch are kept: ask in the order of relations. Beyond `most_counted` entities only the rules
    that a batch needs are counted, and of others with more than 1,000 answers none is a witness.

    Args:
        most_counted: entities up to which all rules of a relation are counted.
    """

    values = ("contexts", "best_context")

    def __init__(self, most_counted: int = 50_000) -> None:
        super().__init__()
        self.most_counted = require_int("most_counted", most_counted, 0)

    def attach(self, facts: Facts) -> None:
        """Give the facts that rules are counted in."""
        super().attach(facts)
        self._companions: dict[int, Companions] = {}

    def found(self, known: Array, relation: Array) -> Found:
        """Both values of all that some edge of the known entity goes with."""
        asked = np.unique(relation).tolist()
        places = np.searchsorted(asked, relation)
        # The queries of one relation after the other: a compiled loop takes the rules of one.
        order = np.argsort(places, kind="stable")
        bounds = np.searchsorted(places[order], np.arange(len(asked) + 1))
        groups = [
            (one, known[order[low:high]]) for one, (low, high) in zip(asked, pairwise(bounds), strict=True)
        ]
        if self.facts.n_entities > self.most_counted:
            return _reorder([self._found_few(*group) for group in groups], order)
        self._count(asked)
        return _reorder([self._found(own, one, self._companions[one]) for one, own in groups], order)

    def _found_few(self, relation: int, known: Array) -> Found:
        """By the rules of the slots that the known entities have edges to."""
        facts = self.facts
        edges = [facts.slot_of[facts.starts[one] : facts.starts[one + 1]] for one in np.unique(known)]
        slots = sorted_distinct(np.concatenate(edges).astype(np.int64))
        return self._found(known, relation, count_companions(facts, relation, slots))

    def _found(self, known: Array, relation: int, companions: Companions) -> Found:
        return find(
            lambda start, stop: _contexts(self.facts, companions, known, relation, start, stop), len(known)
        )

    def _count(self, asked: list[int]) -> None:
        self._companions = {one: self._companions[one] for one in asked if one in self._companions}
        for one in asked:
            if one not in self._companions:
                self._companions[one] = count_companions(self.facts, one)

    def _rules(self, known: int, relation: int) -> tuple[Companions, Array]:
        """The rules that an entity's edges need, and where among them those of each edge are."""
        slots = self.facts.slot_of[self.facts.starts[known] : self.facts.starts[known + 1]]
        if self.facts.n_entities > self.most_counted:
            few = sorted_distinct(slots.astype(np.int64))
            return count_companions(self.facts, relation, few), np.searchsorted(few, slots)
        self._count([relation])
        return self._companions[relation], slots

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """The edges of the known entity that go with the answer."""
        facts = self.facts
        companions, places = self._rules(known, relation)
        own = int(candidate in facts.answers(known, relation))
        out = []
        for edge in range(facts.starts[known], facts.starts[known + 1]):
            place = places[edge - facts.starts[known]]
            rules = slice(*companions.starts[place : place + 2])
            found = companions.chances[rules, 2 * own][companions.answers[rules] == candidate]
            if found.any() and facts.target[edge] != known:
                out.append(Context(int(facts.relation[edge]), int(facts.target[edge]), float(found[0])))
        return [*sorted(out, key=lambda context: -context.confidence)]


def _reorder(parts: list[Found], order: Array) -> Found:
    """The findings of the queries `order`, laid end to end, in the order of the queries."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Found(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((0, 2), np.float32))
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    entities, values = (np.concatenate([getattr(part, name) for part in parts]) for name in Found._fields[1:])
    if (np.diff(order) > 0).all():
        return Found(np.concatenate([[0], np.cumsum(counts)]), entities, values)
    back = np.argsort(order)
    from_ = (np.cumsum(counts) - counts)[back]
    starts = np.concatenate([[0], np.cumsum(counts[back])])
    places = np.repeat(from_ - starts[:-1], counts[back]) + np.arange(starts[-1])
    return Found(starts, entities[places], values[places])


@njit(cache=True, nogil=True)
def _contexts(
    facts: Facts, companions: Companions, known: Array, relation: int, start: int, stop: int
) -> Any:
    counts = np.zeros(stop - start, np.int64)
    entities, values = np.empty(1024, np.int32), np.empty((1024, 2), np.float32)
    n = len(facts.starts) - 1
    chances, own = np.zeros((n, 2), np.float32), np.zeros(n, np.int8)  # Small, so that caches hold them.
    size = 0
    for i in range(start, stop):
        first = size
        low, high = span(facts, known[i], relation)
        own[facts.target[low:high]] = 2
        for edge in range(facts.starts[known[i]], facts.starts[known[i] + 1]):
            if facts.target[edge] == known[i]:
                continue
            slot = np.int64(facts.slot_of[edge])
            if len(companions.slots):
                slot = np.searchsorted(companions.slots, slot)
            rules = companions.starts[slot], companions.starts[slot + 1]
            entities, values = with_room(entities, values, size + rules[1] - rules[0] + 1)
            for at in range(rules[0], rules[1]):
                answer = companions.answers[at]
                confidence = companions.chances[at, own[answer]]
                entities[size] = answer
                size += chances[answer, 1] == 0.0 and confidence > 0.0
                chances[answer, 0] += companions.chances[at, own[answer] + 1]
                chances[answer, 1] = max(chances[answer, 1], confidence)
        own[facts.target[low:high]] = 0
        for at in range(first, size):
            answer = entities[at]
            values[at, 0] = log_chance(np.float32(1.0) - math.exp(chances[answer, 0]))
            values[at, 1] = log_chance(chances[answer, 1])
            chances[answer] = 0.0
        counts[i - start] = size - first
    return counts, entities[:size], values[:size]
