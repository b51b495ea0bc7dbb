"""From names as they were met to ids in sorted order, which no order of lines changes; and fingerprints."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mohone.core.arrays import sorted_distinct
from mohone.core.errors import DataError
from mohone.data.names import Codes, Names
from mohone.data.triples import NamedTriple, NamedTriples

Ids = NDArray[np.int64]
_BLOCK = 1 << 18  # Triples written as text at once.


@dataclass(frozen=True)
class Order:
    """Entities and relations of a pool of names, sorted by code points, which is by the bytes of UTF-8.

    Attributes:
        entities, relations: for each id the number in the pool.
        entity_ids, relation_ids: for each number in the pool the id, where it has one.
    """

    names: Names
    entities: Ids
    relations: Ids
    entity_ids: Ids
    relation_ids: Ids

    @classmethod
    def of(cls, names: Names, codes: Iterable[Codes]) -> Order:
        """The order of the entities and relations of `(n, 3)` triples of numbers in a pool."""
        is_entity, is_relation = np.zeros(len(names), bool), np.zeros(len(names), bool)
        for each in codes:
            is_entity[each[:, 0]] = is_entity[each[:, 2]] = is_relation[each[:, 1]] = True
        order = sorted_numbers(names)
        entities, relations = order[is_entity[order]], order[is_relation[order]]
        return cls(
            names, entities, relations, _inverse(entities, len(names)), _inverse(relations, len(names))
        )

    @property
    def both(self) -> list[str]:
        """The names of an entity and a relation, in order."""
        places = self.entity_ids[self.relations]  # 0 also of what is no entity.
        same = self.entities[places] == self.relations
        return [self.names.name(code) for code in self.relations[same].tolist()]

    def encode(self, codes: Codes) -> Ids:
        """The unique triples of ids, sorted: `(n, 3)`.

        Raises:
            DataError: more entities and relations than fit in 64 bits, three to a triple.
        """
        keys = sorted_distinct(self._keys(codes))
        out = np.empty((len(keys), 3), np.int64)
        queries, out[:, 2] = np.divmod(keys, max(1, len(self.entities)))
        out[:, 0], out[:, 1] = np.divmod(queries, max(1, len(self.relations)))
        return out

    def weigh(self, codes: Codes, weights: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        """The greatest weight of each triple of `encode`."""
        if weights is None:
            return None
        keys = self._keys(codes)
        unique = sorted_distinct(keys.copy())
        out = np.zeros(len(unique), np.float32)
        np.maximum.at(out, np.searchsorted(unique, keys), weights)
        return out

    def _keys(self, codes: Codes) -> Ids:
        """A number for each triple, ascending with head, relation and tail."""
        n_entities, n_relations = len(self.entities), len(self.relations)
        if n_entities**2 * n_relations >= 1 << 63:
            raise DataError(
                f"Entities squared times relations must be below 2^63, but there are {n_entities:,} and "
                f"{n_relations:,}."
            )
        keys: Ids = self.entity_ids[codes[:, 0]] * n_relations
        keys += self.relation_ids[codes[:, 1]]
        keys *= n_entities
        keys += self.entity_ids[codes[:, 2]]
        return keys

    def digest(self, triples: Ids) -> str:
        """sha256 of the sorted lines of unique triples of ids, sorted."""
        digest, triples = hashlib.sha256(), self._as_lines(triples)
        for first in range(0, len(triples), _BLOCK):
            head, relation, tail = triples[first : first + _BLOCK].T
            lines = np.stack([self.entities[head], self.relations[relation], self.entities[tail]], 1)
            digest.update(self.names.text(lines))
        return digest.hexdigest()

    def _as_lines(self, triples: Ids) -> Ids:
        """The triples in the order of their lines, which differs only where a name has a letter below tab."""
        used = self.names.bytes[: self.names.starts[len(self.names)]]
        if not (used < ord("\t")).any():
            return triples
        before_tab = _inverse(sorted_numbers(self.names, b"\t"), len(self.names))
        head, relation, tail = triples.T
        keys = (tail, before_tab[self.relations[relation]], before_tab[self.entities[head]])
        return triples[np.lexsort(keys)]


def sorted_numbers(names: Names, ending: bytes = b"") -> Ids:
    """The numbers of the names in the order of code points of the names with `ending`.

    Eight bytes of each are compared as one number, then the next eight of those that are the same so far; a
    name that ends there comes before one that goes on, by its length.
    """
    sizes = np.diff(names.starts[: len(names) + 1])
    order, tied = np.arange(len(names)), np.arange(len(names))  # Places that are not settled yet;
    run = np.zeros(len(names), np.int64)  # those of one number have been the same so far.
    for skip in range(0, int(sizes.max(initial=0)) + len(ending) + 1, 8):
        if not len(tied):
            break
        word = names.words(order[tied], skip, ending)
        by = np.lexsort((word, run))
        order[tied], word = order[tied[by]], word[by]
        same = (np.diff(word) == 0) & (np.diff(run) == 0)
        run = np.cumsum(np.append(0, ~same))
        unsettled = np.append(same, False) | np.insert(same, 0, False)
        tied, run = tied[unsettled], run[unsettled]
    order[tied] = order[tied][np.lexsort((sizes[order[tied]], run))]
    return order


def fingerprint(triples: Iterable[NamedTriple]) -> str:
    """sha256 of the sorted unique lines: what `LC_ALL=C sort -u FILE | sha256sum` prints.

    Example:
        >>> fingerprint([("a", "r", "b"), ("a", "r", "b")])[:8] == fingerprint([("a", "r", "b")])[:8]
        True
    """
    read = NamedTriples.of(triples)
    order = Order.of(read.names, [read.codes])
    return order.digest(order.encode(read.codes))


def _inverse(numbers: Ids, size: int) -> Ids:
    out = np.zeros(size, np.int64)
    out[numbers] = np.arange(len(numbers))
    return out
