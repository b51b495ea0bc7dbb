"""What is near the answers that the query is known to have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mohone.core.parallel import Array
from mohone.evidence.facts import Facts, span
from mohone.evidence.found import Found, find, with_room
from mohone.evidence.reasons import Reason, SimilarAnswer
from mohone.evidence.votes import SMALL, NeighborExpert


class Answers(NeighborExpert):
    """Neighbours of known answers.

    `a(t) = sum over t' with (h, r, t') in train of w(t', t)`, and the value is `log(1 + a(t) / 0.1)`; w is
    the weight that t has among the neighbours of t', and t itself is none of them.
    """

    values = ("answers",)

    def found(self, known: Array, relation: Array) -> Found:
        """The value of all neighbours of known answers."""
        rows, weights = self.rows.numpy(), self.weights.numpy()
        return find(
            lambda start, stop: _answers(self.facts, rows, weights, known, relation, start, stop), len(known)
        )

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """The known answers that are near the candidate."""
        out: list[SimilarAnswer] = []
        for answer in self.facts.answers(known, relation).tolist():
            if answer != candidate:
                weight = float(self.weights[answer][self.rows[answer] == candidate].sum())
                out += [SimilarAnswer(answer, weight)] * (weight > 0)
        return [*sorted(out, key=lambda one: -one.weight)]


@njit(cache=True, nogil=True)
def _answers(
    facts: Facts, rows: Array, weights: Array, known: Array, relation: Array, start: int, stop: int
) -> Any:
    counts = np.zeros(stop - start, np.int64)
    entities, values = np.empty(1024, np.int32), np.empty((1024, 1), np.float32)
    total = np.zeros(len(facts.starts) - 1)
    size = 0
    for i in range(start, stop):
        first = size
        low, high = span(facts, known[i], relation[i])
        for at in range(low, high):
            answer = facts.target[at]
            entities, values = with_room(entities, values, size + rows.shape[1])
            for k in range(rows.shape[1]):
                other, weight = rows[answer, k], weights[answer, k]
                if other < 0 or other == answer or weight <= 0.0:
                    continue
                if total[other] == 0.0:
                    entities[size] = other
                    size += 1
                total[other] += weight
        for at in range(first, size):
            values[at, 0] = math.log1p(total[entities[at]] / SMALL)
            total[entities[at]] = 0.0
        counts[i - start] = size - first
    return counts, entities[:size], values[:size]
