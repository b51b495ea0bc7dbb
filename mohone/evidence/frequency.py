"""How often a candidate answers the relation at all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array, in_chunks
from mohone.evidence.expert import BlockAdder, SparseExpert, arrays_of
from mohone.evidence.facts import Facts, span
from mohone.evidence.found import Found, find, is_run
from mohone.evidence.reasons import Popular, Reason


class Frequency(SparseExpert):
    """Popular answers, and slots that are filled already: the weight of this value may be negative.

    `log(1 + number of h' other than h with (h', r, t) in train)`. No evidence of the network: the control
    that all other experts are measured against.
    """

    values = ("frequency",)

    def found(self, known: Array, relation: Array) -> Found:
        """The value of all that answer the relation."""
        return find(lambda start, stop: _frequency(self.facts, known, relation, start, stop), len(known))

    def block_adder(self, known: Tensor, relation: Tensor, weights: Tensor) -> BlockAdder:
        """By the relation's slots, which its queries share: of a large graph they are millions."""
        sizes = self.facts.slot_size
        logs = np.log1p(np.arange(1 + int(sizes.max(initial=0)))).astype(np.float32)
        query = arrays_of(known, relation, weights[:, 0])

        def add(scores: Tensor, candidates: Tensor) -> None:
            wanted, out = candidates.numpy(), scores.numpy()
            if is_run(wanted):
                in_chunks(
                    lambda i, j: _add_run(self.facts, logs, *query, wanted, i, j, out), len(out), least=8
                )
            else:
                values = self.at(known, relation, candidates.expand(len(known), -1))
                scores.addcmul_(values[:, :, 0], weights)

        return add

    def at(self, known: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
        """The values of candidates alone: all that answer a relation of a large graph are millions."""
        out = np.empty((*candidates.shape, 1), np.float32)
        queries = arrays_of(known, relation, candidates)
        in_chunks(lambda start, stop: _at(self.facts, *queries, start, stop, out), len(out), least=8)
        return torch.from_numpy(out)

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """How many others have the answer."""
        others = self.facts.answers(candidate, self.facts.inverse(relation))
        times = int((others != known).sum())
        return [Popular(times)] if times else []


@njit(cache=True, nogil=True)
def _at(
    facts: Facts, known: Array, relation: Array, candidates: Array, start: int, stop: int, out: Array
) -> None:
    width = len(facts.slot_starts) - 1
    for i in range(start, stop):
        inverse = (relation[i] + facts.n_relations) % width
        own_low, own_high = span(facts, known[i], relation[i])
        answers = facts.target[own_low:own_high]
        for j in range(candidates.shape[1]):
            low, high = span(facts, candidates[i, j], inverse)
            place = np.searchsorted(answers, candidates[i, j])
            own = place < len(answers) and answers[place] == candidates[i, j]
            out[i, j, 0] = math.log1p(high - low - own)


@njit(cache=True, nogil=True)
def _add_run(
    facts: Facts,
    logs: Array,
    known: Array,
    relation: Array,
    weights: Array,
    candidates: Array,
    start: int,
    stop: int,
    scores: Array,
) -> None:
    """Add the weighted values of consecutive candidates."""
    width, base, end = len(facts.slot_starts) - 1, candidates[0], candidates[-1] + 1
    for i in range(start, stop):
        inverse = (relation[i] + facts.n_relations) % width
        first, last = facts.slot_starts[inverse], facts.slot_starts[inverse + 1]
        holders, weight = facts.slot_entity[first:last], weights[i]
        own_low, own_high = span(facts, known[i], relation[i])
        own = own_low + np.searchsorted(facts.target[own_low:own_high], base)
        for slot in range(np.searchsorted(holders, base), len(holders)):
            entity = holders[slot]
            if entity >= end:
                break
            while own < own_high and facts.target[own] < entity:
                own += 1
            is_own = own < own_high and facts.target[own] == entity
            scores[i, entity - base] += weight * logs[facts.slot_size[first + slot] - is_own]


@njit(cache=True, nogil=True)
def _frequency(facts: Facts, known: Array, relation: Array, start: int, stop: int) -> Any:
    counts = np.zeros(stop - start, np.int64)
    width = len(facts.slot_starts) - 1
    for i in range(start, stop):
        inverse = (relation[i] + facts.n_relations) % width
        counts[i - start] = facts.slot_starts[inverse + 1] - facts.slot_starts[inverse]
    entities, values = np.empty(counts.sum(), np.int32), np.empty((counts.sum(), 1), np.float32)
    size = 0
    for i in range(start, stop):
        inverse = (relation[i] + facts.n_relations) % width
        first, last = facts.slot_starts[inverse], facts.slot_starts[inverse + 1]
        for slot in range(first, last):
            entities[size + slot - first] = facts.slot_entity[slot]
            values[size + slot - first, 0] = math.log1p(facts.slot_size[slot])
        # Those that answer the query itself have one asker less: their places are found as both ascend.
        slot = first
        low, high = span(facts, known[i], relation[i])
        for at in range(low, high):
            while facts.slot_entity[slot] < facts.target[at]:
                slot += 1
            values[size + slot - first, 0] = math.log1p(facts.slot_size[slot] - 1)
        size += last - first
    return counts, entities, values
