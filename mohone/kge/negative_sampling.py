"""Training against sampled negatives that a whole batch shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.data import KnowledgeGraph
from mohone.errors import require_float, require_int
from mohone.kge.base import KGEModel, Query
from mohone.kge.losses import answer_softmax
from mohone.kge.regime import Regime


class TripleBatch(NamedTuple):
    """`(batch, 3)` triples and the `(n_negatives,)` entities all of them are compared with."""

    triples: Tensor
    negatives: Tensor


class NegativeSampling(Regime):
    """Softmax cross-entropy of each triple's tail, and of its head, against shared negatives.

    The candidates of a batch are its own answers and `n_negatives` entities drawn evenly, so one product
    scores them all. A candidate that is the right answer once more is left out of the softmax.

    Args:
        n_negatives: entities drawn for each batch and shared by its triples.
        inverse_temperature: factor of the scores in the softmax; distances want more than 1.
        **regularisation: of `Regime`.
    """

    def __init__(
        self, n_negatives: int = 512, inverse_temperature: float = 1.0, **regularisation: float
    ) -> None:
        super().__init__(**regularisation)
        self.n_negatives = require_int("training.n_negatives", n_negatives, 1)
        self.inverse_temperature = require_float(
            "training.inverse_temperature", inverse_temperature, strict=True
        )

    def batches(self, graph: KnowledgeGraph, batch_size: int, generator: torch.Generator) -> TripleBatches:
        """Shuffled triples, each once."""
        return TripleBatches(graph.train, graph.n_entities, batch_size, self.n_negatives, generator)

    def loss(self, model: KGEModel, batch: TripleBatch) -> Tensor:
        """The mean of both sides' losses."""
        head, relation, tail = batch.triples.T
        tails = self._side_loss(model, model.tail_query(head, relation), tail, batch.negatives)
        heads = self._side_loss(model, model.head_query(relation, tail), head, batch.negatives)
        return (tails + heads) / 2

    def _side_loss(self, model: KGEModel, query: Query, answers: Tensor, negatives: Tensor) -> Tensor:
        candidates = torch.cat([answers, negatives])
        scores = model.match(self.drop(query), candidates)
        again = candidates[None, :] == answers[:, None]
        again.fill_diagonal_(False)
        own = torch.arange(len(answers), device=answers.device)
        loss = answer_softmax(
            scores, own, own, self.label_smoothing, self.inverse_temperature, left_out=again
        )
        return (loss + self.penalty(model, query, None, answers)) / len(answers)


class TripleBatches:
    """One epoch of `TripleBatch`es."""

    def __init__(
        self,
        triples: Tensor,
        n_entities: int,
        batch_size: int,
        n_negatives: int,
        generator: torch.Generator,
    ) -> None:
        self.triples, self.n_entities = triples, n_entities
        self.batch_size, self.n_negatives = batch_size, n_negatives
        self.generator = generator

    def __len__(self) -> int:
        return -(-len(self.triples) // self.batch_size)

    def __iter__(self) -> Iterator[TripleBatch]:
        order = torch.randperm(len(self.triples), generator=self.generator)
        for part in order.split(self.batch_size):
            negatives = torch.randint(self.n_entities, (self.n_negatives,), generator=self.generator)
            yield TripleBatch(self.triples[part], negatives)
