"""The training triples as the edges of each entity, in both directions, for compiled loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from torch import Tensor

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
    width = 2 * n_relations
    codes = np.unique(
        np.concatenate(
            [
                (head * width + relation) * n_entities + tail,
                (tail * width + relation + n_relations) * n_entities + head,
            ]
        )
    )
    queries, target = np.divmod(codes, max(1, n_entities))
    entity, relation = np.divmod(queries, width)
    slots, slot_size = np.unique(relation * n_entities + entity, return_counts=True)
    reverse = (relation + n_relations) % width * n_entities + target
    return Facts(
        starts=_starts(entity, n_entities),
        relation=relation.astype(np.int32),
        target=target.astype(np.int32),
        slot_starts=_starts(slots // max(1, n_entities), width),
        slot_entity=(slots % max(1, n_entities)).astype(np.int32),
        slot_size=slot_size.astype(np.int32),
        slot_of=np.searchsorted(slots, reverse).astype(np.int32),
        n_relations=n_relations,
    )


def _starts(groups: Array, n_groups: int) -> Array:
    out = np.zeros(n_groups + 1, np.int64)
    np.cumsum(np.bincount(groups, minlength=n_groups), out=out[1:])
    return out


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
