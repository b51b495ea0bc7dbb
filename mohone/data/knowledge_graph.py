"""A data set in memory: names in sorted order, triples as sorted unique ids, a fingerprint, a report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from mohone.core.errors import DataError
from mohone.data.index import GroupIndex, is_in, mask_of, triple_keys
from mohone.data.load_report import LoadReport, report_loading
from mohone.data.names import Names
from mohone.data.ordering import Order
from mohone.data.reading import TripleFile
from mohone.data.triples import NamedTriples
from mohone.data.vocabulary import SPLITS as SPLITS
from mohone.data.vocabulary import Vocabulary as Vocabulary

SIDES = ("tail", "head")


@dataclass(frozen=True, repr=False)
class KnowledgeGraph:
    """Triples of three splits over one vocabulary.

    Attributes:
        train, valid, test: `(n, 3)` int64 of head, relation, tail; unique and sorted.
        fingerprint: sha256 over the sorted lines of each split, and over the weights where there are some.
        weights: `(n_train,)` float32, how much each training triple counts, > 0; None: all the same.
        origin: the settings of a configuration that it is read again by; empty: it came from memory.
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
    weights: Tensor | None = None
    origin: tuple[str, ...] = ()
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    def weighted(self, weights: Tensor) -> KnowledgeGraph:
        """The same triples with a weight for each row of `train`; its fingerprint is another.

        Raises:
            DataError: weights that are not one positive, finite number a triple.
        """
        weights = weights.float()
        if weights.shape != self.train.shape[:1]:
            raise DataError(
                f"There must be a weight for each of {len(self.train):,} training triples, but there are "
                f"{weights.numel():,}."
            )
        if not bool(((weights > 0) & weights.isfinite()).all()):
            raise DataError("Weights of triples must be finite and > 0, but not all are.")
        digest = hashlib.sha256(self.fingerprint.encode() + weights.numpy().tobytes()).hexdigest()
        return replace(self, weights=weights, fingerprint=digest, origin=())

    def __repr__(self) -> str:
        sizes = " + ".join(f"{len(getattr(self, split)):,}" for split in SPLITS)
        return f"<{self.name}: {self.n_entities:,} entities, {self.n_relations:,} relations, {sizes} triples>"

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

    def linked(self, entities: Tensor) -> GroupIndex:
        """The entities that a training triple links to each of these, by whatever relation, in either way."""
        asked = mask_of(entities, self.n_entities)
        head, tail = self.train[:, 0], self.train[:, 2]
        keys, others = (
            torch.cat([one[asked[head]], other[asked[tail]]]) for one, other in ((head, tail), (tail, head))
        )
        return GroupIndex.from_pairs(keys, others, max(1, self.n_entities))

    @cached_property
    def unseen_relations(self) -> frozenset[int]:
        """Those that no training triple has: of their types nothing is known."""
        return frozenset((~mask_of(self.train[:, 1], self.n_relations)).nonzero().flatten().tolist())

    def answers(self, side: str, *splits: str, of: Tensor | None = None) -> GroupIndex:
        """The known answers on `side` of each query in these splits, by `query_keys`.

        Args:
            side: `tail` or `head`.
            splits: whose triples are known.
            of: `(n, 3)` triples whose queries are asked; None: those of all. Few need little memory.
        """
        parts = [getattr(self, split) for split in splits]
        if of is not None:
            known = 2 - answer_column(side)
            asked, wanted = mask_of(of[:, known], self.n_entities), query_keys(of, side, self.n_relations)
            parts = [part[asked[part[:, known]]] for part in parts]  # Quick, and leaves few.
            parts = [part[is_in(query_keys(part, side, self.n_relations), wanted.unique())] for part in parts]
        keys = torch.cat([query_keys(part, side, self.n_relations) for part in parts])
        members = torch.cat([part[:, answer_column(side)] for part in parts])
        return GroupIndex.from_pairs(keys, members, max(1, self.n_entities))

    def relation_candidates(self, side: str, *splits: str) -> GroupIndex:
        """The entities seen on `side` of each relation in these splits, by relation."""
        relation, entity = (
            torch.cat([getattr(self, split)[:, column] for split in splits])
            for column in (1, answer_column(side))
        )
        return GroupIndex.from_pairs(relation, entity, self.n_entities)


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


def query_order(triples: Tensor, side: str) -> Tensor:
    """Where triples stand once they are sorted by relation, then by the known entity: `(n,)`, stable.

    So what a relation needs is made once, and equal queries are neighbours.

    Example:
        >>> query_order(torch.tensor([[5, 1, 2], [4, 0, 3], [3, 1, 2], [3, 1, 9]]), "tail").tolist()
        [1, 2, 3, 0]
    """
    by_entity = triples[:, 2 - answer_column(side)].argsort(stable=True)
    return by_entity[triples[by_entity, 1].argsort(stable=True)]


def splits_of(kg: KnowledgeGraph, triples: Tensor) -> Tensor:
    """The number of the first split that has each triple; -1: none has. `(n,)` for `(n, 3)`."""
    sizes = kg.n_entities, kg.n_relations
    wanted = triple_keys(triples, *sizes)
    out = torch.full_like(wanted, -1)
    for number, split in reversed(list(enumerate(SPLITS))):
        known = triple_keys(getattr(kg, split), *sizes)  # Sorted, as the triples are.
        place = torch.searchsorted(known, wanted).clamp_(max=len(known) - 1)
        out[known[place] == wanted] = number
    return out


def build_knowledge_graph(
    name: str, files: Mapping[str, TripleFile], warnings: Sequence[str] = ()
) -> KnowledgeGraph:
    """Make the data set of three read files.

    Repeated lines count once. Valid and test may hold entities and relations that train lacks: they are
    part of the vocabulary and are ranked like all others; the report counts them. Where weights were read,
    those of train count; of a repeated triple the greatest, so that repetition changes nothing.

    Args:
        warnings: that the report has first.

    Raises:
        DataError: if a split is empty.
    """
    for split in SPLITS:
        if not files[split].triples:
            raise DataError(f"The {split} split of {name} must hold triples, but is empty.")
    names, codes = Names(), {}
    for split in SPLITS:
        triples = NamedTriples.of(files[split].triples)
        codes[split] = names.add_pool(triples.names)[triples.codes]
    order = Order.of(names, codes.values())
    weighed = order.weigh(codes["train"], files["train"].weights)
    triples_of = {split: order.encode(codes.pop(split)) for split in SPLITS}
    digests = {split: order.digest(triples_of[split]) for split in SPLITS}
    entities, relations = (
        Vocabulary.of_lines(names.text(each[:, None])) for each in (order.entities, order.relations)
    )
    # int64: others reckon with products of ids, which 32 bits would not hold.
    encoded = {split: torch.from_numpy(each) for split, each in triples_of.items()}
    report = report_loading(name, files, encoded, len(entities), relations.names, order.both)
    kg = KnowledgeGraph(
        name=name,
        entities=entities,
        relations=relations,
        fingerprint=hashlib.sha256(":".join(digests.values()).encode()).hexdigest(),
        fingerprints=digests,
        report=replace(report, warnings=[*warnings, *report.warnings]),
        train=encoded["train"],
        valid=encoded["valid"],
        test=encoded["test"],
    )
    return kg if weighed is None else kg.weighted(torch.from_numpy(weighed))
