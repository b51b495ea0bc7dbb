"""What goes with having an edge: others that have it, and what they answer."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mohone.core.parallel import Array, in_chunks
from mohone.evidence.expert import SparseExpert
from mohone.evidence.facts import Facts, span
from mohone.evidence.found import Found, find, with_room
from mohone.evidence.reasons import Context, Reason

MIN_HITS = 2
MIN_CONFIDENCE = 0.01
PRIOR = 5  # Pairs that contradict, added to those that are seen.
FLOOR = 1e-3  # Of a chance, before its logarithm.


class Companions(NamedTuple):
    """For one relation: the rules from each slot to answers, for an entity that has neither.

    Attributes:
        starts: `(n_slots + 1,)` int64.
        answers: `(n_rules,)` int32.
        counts: `(n_rules,)` int32: of the entities with an edge to the slot's entity, so many have the
            answer.
        confidences: `(n_rules,)` float32.
        against: `(n_rules,)` float32: `log(1 - confidence)`.
    """

    starts: Array
    answers: Array
    counts: Array
    confidences: Array
    against: Array


class Contexts(SparseExpert):
    """Rules from one edge of the known entity: `(h, q, d)` goes with `(h, r, t)`.

    Of the entities other than h that have `(q, d)`, `n` in number, `c` have `(r, t)`, too; the confidence is
    `c / (n + 5)`, if c >= 2 and it is above 0.01. The values are `log(1 - prod(1 - confidence) + 1e-3) - log
    1e-3` over the edges of h, and the same of the best confidence alone. Loops of h are no contexts, nor is
    `(r, t)` one of itself. Rules
    are counted when their relation is first asked for, and only the relations of the latest batch are kept:
    ask in the order of relations.
    """

    values = ("contexts", "best_context")

    def attach(self, facts: Facts) -> None:
        """Give the facts that rules are counted in."""
        super().attach(facts)
        self._companions: dict[int, Companions] = {}

    def found(self, known: Array, relation: Array) -> Found:
        """Both values of all that some edge of the known entity goes with."""
        asked = np.unique(relation).tolist()
        self._count(asked)
        kept = [self._companions[one] for one in asked]
        places = np.searchsorted(asked, relation)
        # The queries of one relation after the other: a compiled loop takes the rules of one.
        order = np.argsort(places, kind="stable")
        bounds = np.searchsorted(places[order], np.arange(len(asked) + 1))
        parts = [
            self._found(known[order[low:high]], asked[i], kept[i])
            for i, (low, high) in enumerate(pairwise(bounds))
        ]
        return _reorder(parts, order)

    def _found(self, known: Array, relation: int, companions: Companions) -> Found:
        return find(
            lambda start, stop: _contexts(self.facts, companions, known, relation, start, stop), len(known)
        )

    def _count(self, asked: list[int]) -> None:
        self._companions = {one: self._companions[one] for one in asked if one in self._companions}
        missing = [one for one in asked if one not in self._companions]

        def loop(start: int, stop: int) -> None:
            for one in missing[start:stop]:
                self._companions[one] = Companions(*_companions(self.facts, one))

        in_chunks(loop, len(missing), least=1)

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """The edges of the known entity that go with the answer."""
        facts = self.facts
        self._count([relation])
        companions = self._companions[relation]
        own = candidate in facts.answers(known, relation)
        out = []
        for edge in range(facts.starts[known], facts.starts[known + 1]):
            slot = facts.slot_of[edge]
            rules = slice(*companions.starts[slot : slot + 2])
            counts = companions.counts[rules][companions.answers[rules] == candidate]
            if len(counts) and facts.target[edge] != known:
                confidence = float(_confidence(counts[0] - own, facts.slot_size[slot] - 1))
                if confidence > 0:
                    out.append(Context(int(facts.relation[edge]), int(facts.target[edge]), confidence))
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
def _confidence(hits: int, n: int) -> Any:
    """Of a rule with so many hits among n, 0 if it is none."""
    confidence = np.float32(hits / (n + PRIOR))
    return confidence if hits >= MIN_HITS and confidence > MIN_CONFIDENCE else np.float32(0.0)


@njit(cache=True, nogil=True)
def _companions(facts: Facts, relation: int) -> Any:
    """The companions of all slots, of answers to one relation."""
    n_slots, width = len(facts.slot_entity), len(facts.slot_starts) - 1
    inverse = (relation + facts.n_relations) % width
    own_slots = facts.slot_starts[inverse], facts.slot_starts[inverse + 1]
    first, last = facts.slot_starts[relation], facts.slot_starts[relation + 1]
    sizes = np.zeros(n_slots + 1, np.int64)
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
    count = np.zeros(len(facts.starts) - 1, np.int32)
    touched = np.empty(len(count), np.int32)
    starts = np.zeros(n_slots + 1, np.int64)
    answers, numbers = np.empty(1024, np.int32), np.empty((1024, 3), np.float32)
    size = 0
    for slot in range(n_slots):
        n_touched = 0
        if begins[slot + 1] - begins[slot] >= MIN_HITS:
            for at in range(begins[slot], begins[slot + 1]):
                low, high = span(facts, holders[at], relation)
                for edge in range(low, high):
                    answer = facts.target[edge]
                    if count[answer] == 0:
                        touched[n_touched] = answer
                        n_touched += 1
                    count[answer] += 1
        answers, numbers = with_room(answers, numbers, size + n_touched)
        for j in range(n_touched):
            hits = count[touched[j]]
            # The edge (r, t) goes with (r, t) always.
            itself = own_slots[0] <= slot < own_slots[1] and facts.slot_entity[slot] == touched[j]
            confidence = _confidence(hits, facts.slot_size[slot] - 1)
            if not itself and confidence > 0.0:
                answers[size], numbers[size, 0], numbers[size, 1] = touched[j], hits, confidence
                numbers[size, 2] = math.log1p(-confidence)
                size += 1
            count[touched[j]] = 0
        starts[slot + 1] = size
    counts = numbers[:size, 0].astype(np.int32)
    return starts, answers[:size].copy(), counts, numbers[:size, 1].copy(), numbers[:size, 2].copy()


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
        own[facts.target[low:high]] = 1
        for edge in range(facts.starts[known[i]], facts.starts[known[i] + 1]):
            if facts.target[edge] == known[i]:
                continue
            slot = facts.slot_of[edge]
            rules = companions.starts[slot], companions.starts[slot + 1]
            entities, values = with_room(entities, values, size + rules[1] - rules[0])
            for at in range(rules[0], rules[1]):
                answer = companions.answers[at]
                confidence, part = companions.confidences[at], companions.against[at]
                if own[answer]:  # The known entity is no witness.
                    confidence = _confidence(companions.counts[at] - 1, facts.slot_size[slot] - 1)
                    part = np.float32(math.log1p(-confidence))
                if confidence > 0.0:
                    chance = chances[answer]
                    if chance[1] == 0.0:
                        entities[size] = answer
                        size += 1
                    chance[0] += part
                    chance[1] = max(chance[1], confidence)
        own[facts.target[low:high]] = 0
        for at in range(first, size):
            answer = entities[at]
            values[at, 0] = math.log((1.0 - math.exp(chances[answer, 0]) + FLOOR) / FLOOR)
            values[at, 1] = math.log((chances[answer, 1] + FLOOR) / FLOOR)
            chances[answer] = 0.0
        counts[i - start] = size - first
    return counts, entities[:size], values[:size]
