"""What of test stands in train in another form: linked pairs of entities, and relations that are copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from mohone.core.words import counted

if TYPE_CHECKING:  # Splitting a file needs no torch.
    from torch import Tensor

COPY_SHARE = 0.9  # Of the pairs of the larger of two relations: from here on they are called copies.
COPY_PAIRS = 3  # Fewer pairs in common say nothing.
LINKED_SHARE = 0.1  # Of test triples: from here on linked pairs are worth a warning,
LINKED_LIFT = 2.0  # where two entities drawn by lot are linked less often than by this factor.
_LISTED = 20


@dataclass(frozen=True)
class RelationPair:
    """Two relations between the same entities.

    Attributes:
        reversed: does `other` link them the other way round? A relation can do so to itself.
        pairs: how many pairs of entities have both.
        share: of the pairs that `relation` has; of copies: of the pairs that the larger relation has.
    """

    relation: str
    other: str
    reversed: bool
    pairs: int
    share: float

    def joined(self, word: str) -> str:
        """In words: `parent_of WORD child_of the other way round`."""
        other = "itself" if self.other == self.relation else self.other
        return f"{self.relation} {word} {other}{' the other way round' if self.reversed else ''}"


@dataclass(frozen=True)
class Leaks:
    """What of the test split can be read off train without knowing anything.

    Attributes:
        triples: test triples whose head and tail a training triple links by another relation, or the other
            way round.
        share: of all test triples.
        chance: the share of all pairs of entities that a training triple links, in either way.
        by_relations: these test triples by their relation and that in train, the most frequent twenty; a
            triple counts under each relation that links its ends in train.
        n_by_relations: how many such pairs of relations there are.
        copies: relations of which one has (nearly) the pairs of the other, or the other way round, in all
            splits together; those that are their own inverse are among them.
    """

    triples: int = 0
    share: float = 0.0
    chance: float = 0.0
    by_relations: list[RelationPair] = field(default_factory=list)
    n_by_relations: int = 0
    copies: list[RelationPair] = field(default_factory=list)

    def warnings(self) -> list[str]:
        """What of it makes the figures on test say less than they seem to: a sentence each."""
        warnings = []
        if self.share >= max(LINKED_SHARE, LINKED_LIFT * self.chance):
            warnings.append(
                f"train links the head and the tail of {counted(self.triples, 'test triple')} "
                f"({self.share:.1%}) by "
                "another relation or the other way round, so that their answers can be copied: "
                + _some(
                    [f"{pair.joined('by')} ({pair.pairs:,})" for pair in self.by_relations],
                    self.n_by_relations,
                )
            )
        copies = [pair for pair in self.copies if pair.other != pair.relation]
        if copies:
            warnings.append(
                "a relation tells next to nothing beyond another: "
                + _some(
                    [f"{pair.joined('is')} ({pair.share:.1%} of its pairs)" for pair in copies], len(copies)
                )
            )
        return warnings


def _some(texts: list[str], n: int) -> str:
    return ", ".join(texts[:3]) + (f" and {n - 3:,} more" if n > 3 else "")


def find_leaks(
    train: Tensor, valid: Tensor, test: Tensor, n_entities: int, relations: Sequence[str]
) -> Leaks:
    """Compare the pairs of entities of test with those of train, and those of all relations.

    Args:
        train, valid, test: `(n, 3)` unique id triples.
        relations: their names.
    """
    links = _Links(
        np.concatenate([np.asarray(each) for each in (train, test, valid)]), n_entities, len(relations)
    )
    of_train, of_test = slice(len(train)), slice(len(train), len(train) + len(test))
    linked = links.linked_otherwise(of_train, of_test)
    by_relations = _by_relations(links, of_train, of_test, relations)
    return Leaks(
        triples=int(linked.sum()),
        share=float(linked.mean()) if len(linked) else 0.0,
        chance=2 * links.n_pairs(of_train) / max(1, n_entities * (n_entities - 1)),
        by_relations=by_relations[:_LISTED],
        n_by_relations=len(by_relations),
        copies=_copies(links, relations),
    )


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
    links = _Links(np.concatenate([train, triples]), n_entities, n_relations)
    return links.linked_otherwise(slice(len(train)), slice(len(train), None))


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
    """A number for the two ends of each triple, whichever is the head: `(n,)` from 0, in one sort.

    Example:
        >>> unordered_pairs(np.array([[2, 0, 1], [1, 5, 2], [0, 0, 0]]), n_entities=3).tolist()
        [1, 1, 0]
    """
    ends = triples[:, [0, 2]]
    return np.unique(ends.min(1) * n_entities + ends.max(1), return_inverse=True)[1]


class _Links:
    """Triples by their pair of ends: `way[i]` is that of a triple, and `way[i] ^ 1` that of its reverse."""

    def __init__(self, triples: np.ndarray, n_entities: int, n_relations: int) -> None:
        head, self.relation, tail = triples.T
        self.proper = head != tail
        self.way = 2 * unordered_pairs(triples, n_entities) + (head > tail)
        self.n_ways = 2 * int(self.way.max(initial=0) // 2 + 1)
        self.n_relations = n_relations

    def n_pairs(self, part: slice) -> int:
        """Pairs of two entities that these triples link."""
        return int(np.count_nonzero(np.bincount(self.way[part][self.proper[part]] // 2)))

    def linked_otherwise(self, train: slice, part: slice) -> np.ndarray:
        """See the function of this name."""
        way, relation = self.way[part], self.relation[part]
        linked = np.bincount(self.way[train], minlength=self.n_ways)
        codes = self.way[train] * self.n_relations + self.relation[train]
        repeated = contains(np.sort(codes), way * self.n_relations + relation)
        same, reverse = linked[way] > repeated, (linked[way ^ 1] > 0) & self.proper[part]
        return np.asarray(same | reverse)

    def matrix(self, part: slice, *, reverse: bool = False, proper: bool = False) -> csr_matrix:
        """`(n_relations, n_ways)` of 0 and 1: has the relation this pair, this way (or reversed) round?

        Args:
            part: of the triples.
            reverse: take them the other way round.
            proper: leave out those whose head is their tail.
        """
        kept = self.proper[part] if proper else slice(None)
        relation, way = self.relation[part][kept], self.way[part][kept] ^ int(reverse)
        shape = (self.n_relations, self.n_ways)
        matrix = csr_matrix((np.ones(len(way), np.int64), (relation, way)), shape)
        matrix.data[:] = 1  # What two splits have counts once.
        return matrix


def _by_relations(links: _Links, train: slice, test: slice, relations: Sequence[str]) -> list[RelationPair]:
    out = []
    counts = np.bincount(links.relation[test], minlength=len(relations))
    for reverse in (False, True):
        found = links.matrix(test, proper=reverse), links.matrix(train, proper=reverse, reverse=reverse)
        one, other, pairs = _in_common(*found, reverse=reverse)
        out += _named(relations, one, other, reverse, pairs, pairs / counts[one])
    return sorted(out, key=_most_first)


def _copies(links: _Links, relations: Sequence[str]) -> list[RelationPair]:
    out = []
    for reverse in (False, True):
        found = links.matrix(slice(None), proper=reverse)
        turned = links.matrix(slice(None), proper=True, reverse=True) if reverse else found
        counts = np.diff(found.indptr)
        one, other, pairs = _in_common(found, turned, reverse=reverse)
        share = pairs / np.maximum(counts[one], counts[other])
        copy = (one <= other) & (pairs >= COPY_PAIRS) & (share >= COPY_SHARE)
        out += _named(relations, one[copy], other[copy], reverse, pairs[copy], share[copy])
    return sorted(out, key=_most_first)


def _in_common(one: csr_matrix, other: csr_matrix, *, reverse: bool) -> tuple[np.ndarray, ...]:
    """The rows of `one`, those of `other` and how many columns they share, where they share any.

    Unless `other` is reversed a relation is not compared with itself.
    """
    common = (one @ other.T).tocoo()
    kept = slice(None) if reverse else common.row != common.col
    return common.row[kept], common.col[kept], common.data[kept]


def _named(
    relations: Sequence[str], one: np.ndarray, other: np.ndarray, reverse: bool, *figures: np.ndarray
) -> list[RelationPair]:
    columns = (each.tolist() for each in (one, other, *figures))
    return [
        RelationPair(relations[r], relations[s], reverse, pairs, share)
        for r, s, pairs, share in zip(*columns, strict=True)
    ]


def _most_first(pair: RelationPair) -> tuple[int, str, str, bool]:
    return -pair.pairs, pair.relation, pair.other, pair.reversed
