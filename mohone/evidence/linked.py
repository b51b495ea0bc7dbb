"""Is a candidate a neighbour of the known entity already?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from mohone.core.parallel import Array
from mohone.evidence.expert import SparseExpert
from mohone.evidence.facts import Facts
from mohone.evidence.found import Found, find, with_room
from mohone.evidence.reasons import Linked as LinkedReason
from mohone.evidence.reasons import Reason


class Linked(SparseExpert):
    """`[h and t, two entities, are joined by a training triple other than (h, r, t)]`.

    FB15k-237 was made so that train links no pair of its valid and test triples: there this value knows how
    the data set was drawn, and nothing of the world. Off unless asked for.
    """

    values = ("linked",)

    def found(self, known: Array, relation: Array) -> Found:
        """The value of all that the known entity is joined to."""
        return find(lambda start, stop: _linked(self.facts, known, relation, start, stop), len(known))

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """The relations that join the two."""
        edges = slice(*self.facts.starts[known : known + 2])
        relations = self.facts.relation[edges][self.facts.target[edges] == candidate].tolist()
        return [LinkedReason(other) for other in relations if other != relation and candidate != known]


@njit(cache=True, nogil=True)
def _linked(facts: Facts, known: Array, relation: Array, start: int, stop: int) -> Any:
    counts = np.zeros(stop - start, np.int64)
    entities, values = np.empty(1024, np.int32), np.empty((1024, 1), np.float32)
    seen = np.full(len(facts.starts) - 1, -1, np.int64)
    size = 0
    for i in range(start, stop):
        low, high = facts.starts[known[i]], facts.starts[known[i] + 1]
        entities, values = with_room(entities, values, size + high - low)
        first = size
        for at in range(low, high):
            other = facts.target[at]
            if facts.relation[at] != relation[i] and other != known[i] and seen[other] != i:
                seen[other] = i
                entities[size], values[size, 0] = other, 1.0
                size += 1
        counts[i - start] = size - first
    return counts, entities[:size], values[:size]
