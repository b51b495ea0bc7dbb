"""The train split as triples with drawn negatives, for objectives that sample."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.words import counted
from mohone.data import SIDES, KnowledgeGraph, query_keys
from mohone.data.corruption import head_chances
from mohone.training.objective import Share, shuffled
from mohone.training.weights import relative_weights

log = logging.getLogger(__name__)
Pairs = tuple[Tensor, Tensor]
CORRUPTIONS = ("both", "uniform", "bernoulli")


class TripleBatch(NamedTuple):
    """Triples whose tails, and triples whose heads, are compared with `negatives`, `(n_negatives,)` entities.

    `n_examples` is by what the summed loss of both sides is divided. `known_tails` and `known_heads` are the
    right answers of the queries by train, as row numbers and entities, `(n_known,)` each; None: they may be
    negatives. `tail_weights` and `head_weights` say how much each triple counts; None: all 1.
    """

    tails: Tensor
    heads: Tensor
    negatives: Tensor
    n_examples: float
    known_tails: Pairs | None = None
    known_heads: Pairs | None = None
    tail_weights: Tensor | None = None
    head_weights: Tensor | None = None


class TripleExamples:
    """The triples of the train split, and what negatives are.

    Args:
        kg: the data set.
        n_negatives: entities drawn for each batch.
        corruption: which sides are replaced, see `NegativeSampling`.
        relation_block: see `Objective`.
        filtered: are right answers by train never negatives?
    """

    def __init__(
        self, kg: KnowledgeGraph, n_negatives: int, corruption: str, relation_block: int, filtered: bool
    ) -> None:
        self.triples, self.n_entities, self.n_relations = kg.train, kg.n_entities, kg.n_relations
        self.weights = relative_weights(kg)
        self.n_negatives, self.relation_block = n_negatives, relation_block
        self.head_chance = _head_chance(kg, corruption)
        self.known = {side: kg.answers(side, "train") for side in SIDES} if filtered else {}
        for side, index in self.known.items():
            n_full = int((index.offsets.diff() == kg.n_entities).sum())
            if n_full:
                queries = counted(n_full, f"{side} query has", f"{side} queries have")
                log.warning("%s no negative: all entities are right answers.", queries)

    def n_batches(self, batch_size: int) -> int:
        """How many batches an epoch has."""
        return -(-len(self.triples) // batch_size)

    def known_answers(self, triples: Tensor, side: str) -> Pairs | None:
        """Those of each triple's query by train, as rows and entities; None unless they are left out."""
        if not self.known:
            return None
        keys = query_keys(triples, side, self.n_relations)
        return self.known[side].to(keys.device).lookup(keys)

    def epoch(self, batch_size: int, generator: torch.Generator, share: Share) -> TripleBatches:
        """Shuffled triples, `batch_size` of them in a step of all processes together."""
        order = shuffled(self.triples[:, 1], self.relation_block, generator)
        shape = (self.n_batches(batch_size), self.n_negatives)
        negatives = torch.randint(self.n_entities, shape, generator=generator)
        head_is_asked = None
        if self.head_chance is not None:
            head_is_asked = torch.rand(len(order), generator=generator) < self.head_chance[order]
        return TripleBatches(self, order, head_is_asked, negatives, batch_size, share)


def _head_chance(kg: KnowledgeGraph, corruption: str) -> Tensor | None:
    """With what chance the head of each train triple is replaced: `(n,)`; None: always both sides."""
    if corruption == "both":
        return None
    relation = kg.train[:, 1]
    if corruption == "uniform":
        return torch.full((len(relation),), 0.5)
    return head_chances(kg)[relation]


class TripleBatches:
    """One epoch of `TripleBatch`es, each laid out when it is wanted: no copy of all triples is made.

    Args:
        examples: what there is.
        order: `(n,)` of the triples.
        head_is_asked: `(n,)`: is the head replaced, and not the tail? None: both are.
        negatives: `(n_batches, n_negatives)`.
        batch_size: of all processes.
        share: where the batches go.
    """

    def __init__(
        self,
        examples: TripleExamples,
        order: Tensor,
        head_is_asked: Tensor | None,
        negatives: Tensor,
        batch_size: int,
        share: Share,
    ) -> None:
        self.examples, self.batch_size, self.share = examples, batch_size, share
        self.n_sides = 1 if head_is_asked is not None else len(SIDES)
        self.order, self.negatives = order.to(share.device), negatives.to(share.device)
        self.head_is_asked = None if head_is_asked is None else head_is_asked.to(share.device)
        self.triples = examples.triples.to(share.device)
        self.weights = None if examples.weights is None else examples.weights.to(share.device)

    def __len__(self) -> int:
        return -(-len(self.order) // self.batch_size)

    def __iter__(self) -> Iterator[TripleBatch]:
        for i in range(len(self)):
            start = i * self.batch_size
            size = min(self.batch_size, len(self.order) - start)
            # Of all processes' triples every `world`-th, counted through the epoch.
            mine = slice(start + (self.share.rank - start) % self.share.world, start + size, self.share.world)
            tails = heads = self.order[mine]
            if self.head_is_asked is not None:
                asked = self.head_is_asked[mine]
                tails, heads = tails[~asked], heads[asked]
            yield self._batch(tails, heads, self.negatives[i], self.n_sides * size / self.share.world)

    def _batch(self, tails: Tensor, heads: Tensor, negatives: Tensor, n_examples: float) -> TripleBatch:
        """The batch of these row numbers of the train split."""
        known = self.examples.known_answers
        asked_tails, asked_heads = self.triples[tails], self.triples[heads]
        return TripleBatch(
            asked_tails,
            asked_heads,
            negatives,
            n_examples,
            known(asked_tails, "tail"),
            known(asked_heads, "head"),
            None if self.weights is None else self.weights[tails],
            None if self.weights is None else self.weights[heads],
        )
