"""Training against all entities, with the answers of a query brought together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.data import SIDES, KnowledgeGraph
from mohone.data.index import expand_ranges
from mohone.errors import require_float, require_int
from mohone.kge.base import KGEModel, Query
from mohone.kge.losses import answer_softmax
from mohone.kge.regime import Regime


class SideBatch(NamedTuple):
    """Queries of one side, `(n,)` entity and relation, and their answers as flat pairs `(n_answers,)`."""

    entity: Tensor
    relation: Tensor
    rows: Tensor
    answers: Tensor


class QueryBatch(NamedTuple):
    """Queries of both sides, and by what their summed loss is divided."""

    tail: SideBatch
    head: SideBatch
    n_examples: float


class OneVsAll(Regime):
    """Softmax cross-entropy of each triple's tail, and of its head, against all entities.

    Triples with the same query share its row of scores: up to `answers_per_query` answers are one row of a
    batch. The objective of an epoch stays that of 1-vs-all, a sum over triples and sides, while FB15k-237's
    544,230 examples need 149,689 rows of scores at most; only the order of examples differs. At 1 it is the
    usual 1-vs-all.

    Args:
        answers_per_query: most answers of one query in one row; frequent queries have several rows.
        inverse_temperature: factor of the scores in the softmax.
        **regularisation: of `Regime`.
    """

    def __init__(
        self,
        answers_per_query: int = 16,
        inverse_temperature: float = 1.0,
        **regularisation: float,
    ) -> None:
        super().__init__(**regularisation)
        self.answers_per_query = require_int("training.answers_per_query", answers_per_query, 1)
        self.inverse_temperature = require_float(
            "training.inverse_temperature", inverse_temperature, strict=True
        )

    def batches(self, graph: KnowledgeGraph, batch_size: int, generator: torch.Generator) -> QueryBatches:
        """Shuffled queries of both sides, with all their answers."""
        return QueryBatches(graph, batch_size, self.answers_per_query, generator)

    def loss(self, model: KGEModel, batch: QueryBatch) -> Tensor:
        """The mean over the answers of both sides."""
        tail, head = batch.tail, batch.head
        tails = self._side_loss(model, model.tail_query(tail.entity, tail.relation), tail)
        heads = self._side_loss(model, model.head_query(head.relation, head.entity), head)
        return (tails + heads) / batch.n_examples

    def _side_loss(self, model: KGEModel, query: Query, side: SideBatch) -> Tensor:
        scores = model.match(self.drop(query))
        loss = answer_softmax(scores, side.rows, side.answers, self.label_smoothing, self.inverse_temperature)
        weight = torch.bincount(side.rows, minlength=len(side.entity)).to(loss.dtype)
        return loss + self.penalty(model, query, weight, side.answers)


class QueryBatches:
    """One epoch of `QueryBatch`es over the train split."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        batch_size: int,
        answers_per_query: int,
        generator: torch.Generator,
    ) -> None:
        self.n_relations, self.batch_size = graph.n_relations, batch_size
        self.generator = generator
        pieces = [_split_queries(graph, side, answers_per_query) for side in SIDES]
        self.sides = torch.cat([torch.full_like(p.keys, i) for i, p in enumerate(pieces)])
        self.keys = torch.cat([piece.keys for piece in pieces])
        self.starts = torch.cat([pieces[0].starts, pieces[1].starts + len(pieces[0].members)])
        self.counts = torch.cat([piece.counts for piece in pieces])
        self.members = torch.cat([piece.members for piece in pieces])

    def __len__(self) -> int:
        return -(-len(self.keys) // self.batch_size)

    def __iter__(self) -> Iterator[QueryBatch]:
        order = torch.randperm(len(self.keys), generator=self.generator)
        # The same divisor for all batches, so that each example weighs the same in an epoch.
        n_examples = min(self.batch_size, len(self.keys)) * len(self.members) / len(self.keys)
        for part in order.split(self.batch_size):
            side = self.sides[part]
            yield QueryBatch(self._side_batch(part[side == 0]), self._side_batch(part[side == 1]), n_examples)

    def _side_batch(self, part: Tensor) -> SideBatch:
        rows, answers = expand_ranges(self.starts[part], self.counts[part], self.members)
        keys = self.keys[part]
        return SideBatch(
            torch.div(keys, self.n_relations, rounding_mode="floor"),
            keys % self.n_relations,
            rows,
            answers,
        )


class _Pieces(NamedTuple):
    keys: Tensor
    starts: Tensor
    counts: Tensor
    members: Tensor


def _split_queries(graph: KnowledgeGraph, side: str, most: int) -> _Pieces:
    """The train queries of one side, those with more than `most` answers in several pieces."""
    index = graph.answers(side, "train")
    counts = index.offsets.diff()
    n_pieces = (counts + most - 1) // most
    query = torch.arange(len(counts)).repeat_interleave(n_pieces)
    number = torch.arange(len(query)) - (n_pieces.cumsum(0) - n_pieces)[query]
    starts = index.offsets[query] + number * most
    ends = torch.minimum(starts + most, index.offsets[query + 1])
    return _Pieces(index.keys[query], starts, ends - starts, index.members)
