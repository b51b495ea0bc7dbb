"""A data set in memory: names in sorted order, triples as sorted unique ids, a fingerprint, a report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from mohone.core.errors import DataError
from mohone.data.index import GroupIndex, mask_of
from mohone.data.load_report import LoadReport, report_loading
from mohone.data.reading import NamedTriple, TripleFile

SPLITS = ("train", "valid", "test")
SIDES = ("tail", "head")


class Vocabulary:
    """Names in sorted (code point) order and their ids, so that a file's line order changes nothing.

    Example:
        >>> Vocabulary(["b", "a", "B", "b"]).ids
        {'B': 0, 'a': 1, 'b': 2}
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(set(names)))
        self.ids = {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class KnowledgeGraph:
    """Triples of three splits over one vocabulary.

    Attributes:
        train, valid, test: `(n, 3)` int64 of head, relation, tail; unique and sorted.
        fingerprint: sha256 over the sorted lines of each split.
        fingerprints: that of each split alone.
    """

    name: str
    entities: Vocabulary
    relations: Vocabulary
    train: Tensor
    valid: Tensor
    test: Tensor
    fingerprint: str
    report: LoadReport
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_entities(self) -> int:
        """Number of entities of all splits, seen in training or not."""
        return len(self.entities)

    @property
    def n_relations(self) -> int:
        """Number of relations of all splits."""
        return len(self.relations)

    def triples(self, *splits: str) -> Tensor:
        """The triples of these splits together: `(n, 3)`."""
        return torch.cat([getattr(self, split) for split in splits])

    @cached_property
    def seen_entities(self) -> Tensor:
        """`(n_entities,)` of bool: is it in a training triple?"""
        return mask_of(self.train[:, [0, 2]], self.n_entities)

    @cached_property
    def linked(self) -> GroupIndex:
        """The entities that a training triple links to each entity, by whatever relation, in either way."""
        head, _, tail = self.train.T
        both = torch.cat([head, tail]), torch.cat([tail, head])
        return GroupIndex.from_pairs(*both, max(1, self.n_entities))

    @cached_property
    def unseen_relations(self) -> frozenset[int]:
        """Those that no training triple has: of their types nothing is known."""
        return frozenset((~mask_of(self.train[:, 1], self.n_relations)).nonzero().flatten().tolist())

    def answers(self, side: str, *splits: str) -> GroupIndex:
        """The known answers on `side` of each query in these splits, by `query_keys`."""
        triples = self.triples(*splits)
        keys = query_keys(triples, side, self.n_relations)
        return GroupIndex.from_pairs(keys, triples[:, answer_column(side)], max(1, self.n_entities))

    def relation_candidates(self, side: str, *splits: str) -> GroupIndex:
        """The entities seen on `side` of each relation in these splits, by relation."""
        triples = self.triples(*splits)
        return GroupIndex.from_pairs(triples[:, 1], triples[:, answer_column(side)], self.n_entities)


def answer_column(side: str) -> int:
    """The column of a triple that a query on `side` asks for.

    Example:
        >>> answer_column("tail"), answer_column("head")
        (2, 0)
    """
    return 2 if side == "tail" else 0


def query_keys(triples: Tensor, side: str, n_relations: int) -> Tensor:
    """One integer for each query `(head, relation, ?)` or `(?, relation, tail)`: `(n,)`.

    Example:
        >>> triples = torch.tensor([[5, 1, 2], [5, 1, 3]])
        >>> query_keys(triples, "tail", n_relations=10).tolist(), query_keys(triples, "head", 10).tolist()
        ([51, 51], [21, 31])
    """
    return triples[:, 2 - answer_column(side)] * n_relations + triples[:, 1]


def fingerprint(triples: Iterable[NamedTriple]) -> str:
    """sha256 of the sorted unique lines: what `LC_ALL=C sort -u FILE | sha256sum` prints.

    Example:
        >>> fingerprint([("a", "r", "b"), ("a", "r", "b")])[:8] == fingerprint([("a", "r", "b")])[:8]
        True
    """
    digest = hashlib.sha256()
    for triple in sorted({"\t".join(triple) for triple in triples}):
        digest.update(triple.encode() + b"\n")
    return digest.hexdigest()


def build_knowledge_graph(name: str, files: Mapping[str, TripleFile]) -> KnowledgeGraph:
    """Make the data set of three read files.

    Repeated lines count once. Valid and test may hold entities and relations that train lacks: they are
    part of the vocabulary and are ranked like all others; the report counts them.

    Raises:
        DataError: if a split is empty.
    """
    for split in SPLITS:
        if not files[split].triples:
            raise DataError(f"The {split} split of {name} must hold triples, but is empty.")
    every = [triple for split in SPLITS for triple in files[split].triples]
    entities = Vocabulary(name for head, _, tail in every for name in (head, tail))
    relations = Vocabulary(relation for _, relation, _ in every)
    encoded = {split: _encode(files[split].triples, entities, relations) for split in SPLITS}
    digests = {split: fingerprint(files[split].triples) for split in SPLITS}
    return KnowledgeGraph(
        name=name,
        entities=entities,
        relations=relations,
        fingerprint=hashlib.sha256(":".join(digests.values()).encode()).hexdigest(),
        fingerprints=digests,
        report=report_loading(name, files, encoded, entities.names, relations.names),
        **encoded,
    )


def _encode(triples: list[NamedTriple], entities: Vocabulary, relations: Vocabulary) -> Tensor:
    head, relation, tail = (
        np.fromiter((ids[triple[i]] for triple in triples), np.int64, len(triples))
        for i, ids in enumerate((entities.ids, relations.ids, entities.ids))
    )
    codes = np.unique((head * len(relations) + relation) * len(entities) + tail)
    queries, tail = np.divmod(codes, len(entities))
    return torch.from_numpy(np.stack([*np.divmod(queries, len(relations)), tail], 1))
