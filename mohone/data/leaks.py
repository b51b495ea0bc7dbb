"""What of test stands in train in another form: linked pairs of entities, and relations that are copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mohone.core.arrays import sorted_distinct
from mohone.core.words import counted
from mohone.data.links import Links, contains

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
    links = Links(n_entities, len(relations))
    of_train, of_test = (links.codes(np.asarray(each)) for each in (train, test))
    of_train.sort()
    linked = links.linked_otherwise(of_train, of_test)
    by_relations = _by_relations(links, of_train, of_test, relations)
    every = sorted_distinct(np.concatenate([of_train, of_test, links.codes(np.asarray(valid))]))
    return Leaks(
        triples=int(linked.sum()),
        share=float(linked.mean()) if len(linked) else 0.0,
        chance=2 * links.n_pairs(of_train) / max(1, n_entities * (n_entities - 1)),
        by_relations=by_relations[:_LISTED],
        n_by_relations=len(by_relations),
        copies=_copies(links, every, relations),
    )


def _by_relations(
    links: Links, train: np.ndarray, test: np.ndarray, relations: Sequence[str]
) -> list[RelationPair]:
    out = []
    counts = np.bincount(links.relations(test), minlength=len(relations))
    asked = train[contains(np.unique(links.pairs(test)), links.pairs(train))]
    for reverse in (False, True):
        one, other, pairs = links.in_common(test, asked, reverse=reverse)
        out += _named(relations, one, other, reverse, pairs, pairs / counts[one])
    return sorted(out, key=_most_first)


def _copies(links: Links, codes: np.ndarray, relations: Sequence[str]) -> list[RelationPair]:
    """Among all triples, each once, sorted."""
    out = []
    shared = links.of_shared_pairs(codes)
    for reverse in (False, True):
        having = codes[links.proper(codes)] if reverse else codes
        counts = np.bincount(links.relations(having), minlength=len(relations))
        one, other, pairs = links.in_common(shared, shared, reverse=reverse)
        share = pairs / np.maximum(counts[one], counts[other])
        copy = (one <= other) & (pairs >= COPY_PAIRS) & (share >= COPY_SHARE)
        out += _named(relations, one[copy], other[copy], reverse, pairs[copy], share[copy])
    return sorted(out, key=_most_first)


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
