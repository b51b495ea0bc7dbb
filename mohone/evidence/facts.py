"""The training triples as the edges of each entity, in both directions, for compiled loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from torch import Tensor

from mohone.core.arrays import sorted_distinct
from mohone.core.parallel import Array
from mohone.data import KnowledgeGraph


class Facts(NamedTuple):
    """Edges by entity, and entities by relation; a tuple because compiled loops take those.

    Relations are directed: of R relations, r + R is the inverse of r. A triple (h, r, t) is an edge of h with
    r to t, and an edge of t with r + R to h. An entity and a directed relation that it has are a *slot*.

    Attributes:
        starts: `(n_entities + 1,)` int64: where each entity's edges start.
        relation, target: `(2 n_train,)` int32, sorted by relation, then target, within an entity.
        slot_starts: `(2 R + 1,)` int64: where each directed relation's slots start.
        slot_entity: `(n_slots,)` int32: who has the relation, ascending within it.
        slot_size: `(n_slots,)` int32: how many edges with it.
        slot_of: `(2 n_train,)` int32: the slot that the reverse of each edge belongs to.
        n_relations: R.
    """

    starts: Array
    relation: Array
    target: Array
    slot_starts: Array
    slot_entity: Array
    slot_size: Array
    slot_of: Array
    n_relations: int

    @property
    def n_entities(self) -> int:
        """All entities, those without an edge too."""
        return len(self.starts) - 1

    def answers(self, entity: int, relation: int) -> Array:
        """The targets of an entity's edges with a directed relation, ascending."""
        low, high = span(self, entity, relation)
        return self.target[low:high]

    def inverse(self, relation: int) -> int:
        """The directed relation that goes the other way."""
        return (relation + self.n_relations) % (2 * self.n_relations)


def facts_of(kg: KnowledgeGraph) -> Facts:
    """The facts of the training triples of `kg`."""
    return make_facts(kg.train, kg.n_entities, kg.n_relations)


def make_facts(triples: Tensor, n_entities: int, n_relations: int) -> Facts:
    """The facts of `(n, 3)` triples; repeated ones count once."""
    head, relation, tail = triples.numpy().T
    width, n = 2 * n_relations, len(triples)
    codes = np.empty(2 * n, np.int64)  # Of tens of millions of edges: one such array at a time.
    codes[:n] = (head * width + relation) * n_entities + tail
    codes[n:] = (tail * width + relation + n_relations) * n_entities + head
    codes = sorted_distinct(codes)
    target = (codes % max(1, n_entities)).astype(np.int32)
    codes //= max(1, n_entities)
    starts = np.searchsorted(codes, np.arange(n_entities + 1) * width)
    relation = (codes % width).astype(np.int32)
    # The slots of the reverse edges are all slots, each as often as it has edges.
    codes = (relation + np.int64(n_relations)) % width * n_entities + target
    order = np.argsort(codes)
    slots, slot_size = np.unique(codes[order], return_counts=True)
    slot_of = np.empty(len(order), np.int32)
    slot_of[order] = np.repeat(np.arange(len(slots), dtype=np.int32), slot_size)
    return Facts(
        starts=starts,
        relation=relation,
        target=target,
        slot_starts=np.searchsorted(slots, np.arange(width + 1) * n_entities),
        slot_entity=(slots % max(1, n_entities)).astype(np.int32),
        slot_size=slot_size.astype(np.int32),
        slot_of=slot_of,
        n_relations=n_relations,
    )


@njit(cache=True, nogil=True)
def span(facts: Facts, entity: int, relation: int) -> Any:
    """From where to where the edges of an entity have this relation."""
    low, end = facts.starts[entity], facts.starts[entity + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if facts.relation[middle] < relation:
            low = middle + 1
        else:
            high = middle
    first, high = low, end
    while low < high:
        middle = (low + high) >> 1
        if facts.relation[middle] <= relation:
            low = middle + 1
        else:
            high = middle
    return first, low
