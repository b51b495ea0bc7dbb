"""Which triples have their two ends in common, found by sorting one number a triple."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix


def linked_otherwise(train: np.ndarray, triples: np.ndarray, n_entities: int, n_relations: int) -> np.ndarray:
    """Does train link the ends of each triple by another relation, or the other way round?

    Args:
        train, triples: `(n, 3)` and `(m, 3)` unique id triples.

    Returns:
        `(m,)` of bool; a triple that train repeats is not linked by that alone.

    Example:
        >>> train = np.array([[0, 0, 1], [2, 0, 3]])
        >>> triples = np.array([[0, 1, 1], [3, 0, 2], [0, 0, 1], [0, 0, 2]])
        >>> linked_otherwise(train, triples, n_entities=4, n_relations=2).tolist()
        [True, True, False, False]
    """
    links = Links(n_entities, n_relations)
    return links.linked_otherwise(np.sort(links.codes(train)), links.codes(triples))


def contains(ascending: np.ndarray, values: np.ndarray) -> np.ndarray:
    """`(n,)` of bool: is each value among those of a sorted array?

    Example:
        >>> contains(np.array([1, 3]), np.array([3, 2, 4])).tolist()
        [True, False, False]
    """
    place = np.searchsorted(ascending, values)
    found = place < len(ascending)
    found[found] = ascending[place[found]] == values[found]
    return found


def unordered_pairs(triples: np.ndarray, n_entities: int) -> np.ndarray:
    """A number for the two ends of each triple, whichever is the head: `(n,)`.

    Example:
        >>> unordered_pairs(np.array([[2, 0, 1], [1, 5, 2], [0, 0, 0]]), n_entities=3).tolist()
        [5, 5, 0]
    """
    head, _, tail = triples.T
    return np.asarray(np.minimum(head, tail) * n_entities + np.maximum(head, tail))


class Links:
    """Triples by the pair of their ends, in one number each: a pair, which way round it is, and the relation.

    All questions are of triples whose pair others share, which few have: a sort finds them.

    Attributes:
        n_relations: at least one.
    """

    def __init__(self, n_entities: int, n_relations: int) -> None:
        self.n_entities = n_entities
        self.n_relations = max(1, n_relations)

    def codes(self, triples: np.ndarray) -> np.ndarray:
        """`(n,)` unsigned: below twice the entities squared times the relations, which is below 2^64."""
        way = unordered_pairs(triples, self.n_entities).astype(np.uint64)
        way *= np.uint64(2)
        way += triples[:, 0] > triples[:, 2]
        way *= np.uint64(self.n_relations)
        way += triples[:, 1].astype(np.uint64)
        return way

    def ways(self, codes: np.ndarray) -> np.ndarray:
        """Twice the number of the pair, and one more where the first entity is the tail."""
        return np.asarray(codes // np.uint64(self.n_relations))

    def pairs(self, codes: np.ndarray) -> np.ndarray:
        """The number of the pair of ends."""
        return np.asarray(codes // np.uint64(2 * self.n_relations))

    def relations(self, codes: np.ndarray) -> np.ndarray:
        """`(n,)` of ids."""
        return np.asarray(codes % np.uint64(self.n_relations)).astype(np.int64)

    def proper(self, codes: np.ndarray) -> np.ndarray:
        """`(n,)` of bool: are there two entities?"""
        first, second = np.divmod(self.pairs(codes), np.uint64(self.n_entities))
        return np.asarray(first != second)

    def n_pairs(self, train: np.ndarray) -> int:
        """Pairs of two entities that these triples, sorted, link."""
        pairs = self.pairs(train)
        return int(np.count_nonzero(self.proper(train[np.diff(pairs, prepend=~pairs[:1]) != 0])))

    def linked_otherwise(self, train: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """See the function of this name; the triples of train are sorted."""
        way = self.ways(codes)
        same = self._count(train, way) > contains(train, codes)
        reverse = (self._count(train, way ^ np.uint64(1)) > 0) & self.proper(codes)
        return np.asarray(same | reverse)

    def _count(self, train: np.ndarray, way: np.ndarray) -> np.ndarray:
        first = way * np.uint64(self.n_relations)
        ends = (np.searchsorted(train, each) for each in (first, first + np.uint64(self.n_relations)))
        return np.subtract(*reversed(list(ends)))

    def of_shared_pairs(self, codes: np.ndarray) -> np.ndarray:
        """Of sorted triples those whose pair of ends another triple has, in either way."""
        pairs = self.pairs(codes)
        same = pairs[1:] == pairs[:-1]
        shared = np.zeros(len(codes), bool)
        shared[1:] |= same
        shared[:-1] |= same
        return codes[shared]

    def in_common(self, one: np.ndarray, other: np.ndarray, *, reverse: bool) -> tuple[np.ndarray, ...]:
        """Relations of `one`, those of `other`, and how many pairs both have, where they have any.

        Args:
            one, other: triples.
            reverse: is `other` taken the other way round? Then a relation is compared with itself, too, and
                an entity linked to itself says nothing.
        """
        if reverse:
            one, other = one[self.proper(one)], other[self.proper(other)]
        ways = np.concatenate([self.ways(one), self.ways(other) ^ np.uint64(reverse)])
        every, columns = np.unique(ways, return_inverse=True)
        rows = np.concatenate([self.relations(one), self.relations(other)])
        shape, ones = (self.n_relations, len(every)), np.ones(len(rows), np.int64)
        has, has_too = (
            csr_matrix((ones[part], (rows[part], columns[part])), shape)
            for part in (slice(len(one)), slice(len(one), None))
        )
        common = coo_matrix(has @ has_too.T)
        wanted = slice(None) if reverse else common.row != common.col
        return common.row[wanted], common.col[wanted], common.data[wanted]
