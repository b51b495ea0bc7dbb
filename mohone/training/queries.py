"""The train split as queries with their answers, for the objectives that score all entities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.data import SIDES, KnowledgeGraph
from mohone.data.index import expand_ranges
from mohone.kge.base import KGEModel, Query
from mohone.training.objective import Objective, Share, shuffled
from mohone.training.weights import answer_weights


class SideBatch(NamedTuple):
    """Queries of one side and their answers.

    `entity`, `relation` and `n_answers` are `(n,)`; the answers are flat pairs `rows`, `answers`
    `(n_pairs,)`, ordered by row. `drawn` are the entities that the answers are compared with; None: all.
    `weights` `(n_pairs,)` say how much each answer counts, `total` `(n,)` those of a query together; None:
    each counts 1.
    """

    entity: Tensor
    relation: Tensor
    n_answers: Tensor
    rows: Tensor
    answers: Tensor
    weights: Tensor | None = None
    total: Tensor | None = None
    drawn: Tensor | None = None


class QueryBatch(NamedTuple):
    """Queries of both sides, and how many queries and answers a batch has on average."""

    tail: SideBatch
    head: SideBatch
    mean_queries: float
    mean_answers: float


class QueryObjective(Objective):
    """A objective that scores all entities for whole queries."""

    @abstractmethod
    def side_loss(self, model: KGEModel, query: Query, side: SideBatch, scale: float) -> Tensor:
        """`scale` times the summed loss of one side's queries."""

    def answer_weight(self, side: SideBatch) -> Tensor | None:
        """How much each answer counts, `(n_pairs,)`; None: all 1."""
        return side.weights

    def sides_loss(self, model: KGEModel, batch: QueryBatch, scale: float) -> Tensor:
        """`scale` times the summed loss of both sides; batches by relation often have one side only."""
        if len(batch.head.entity) == 0:
            return self._one_side(model, batch.tail, False, scale)
        heads = self._one_side(model, batch.head, True, scale)
        if len(batch.tail.entity) == 0:
            return heads
        return self._one_side(model, batch.tail, False, scale) + heads

    def _one_side(self, model: KGEModel, side: SideBatch, heads: bool, scale: float) -> Tensor:
        if heads:
            query = model.head_query(side.relation, side.entity)
        else:
            query = model.tail_query(side.entity, side.relation)
        loss = self.side_loss(model, query, side, scale)
        if self.relation_weight:
            examples = Query(query.entity[side.rows], query.relation[side.rows], query.vectors)
            weight = self.answer_weight(side)
            loss = loss + scale * self.relation_loss(model, examples, side.answers, heads, weight)
        return loss


class QueryExamples:
    """All queries of both sides, those with more than `most` answers cut in several.

    Args:
        kg: its train split is used.
        most: answers of a query; None: any number.
        relation_block: see `Objective`.
        n_candidates: entities drawn for each batch; None: none are, all count.
    """

    def __init__(
        self, kg: KnowledgeGraph, most: int | None, relation_block: int, n_candidates: int | None = None
    ) -> None:
        pieces = [_split_queries(kg, side, most) for side in SIDES]
        self.side = torch.cat([torch.full_like(p.keys, i) for i, p in enumerate(pieces)])
        keys = torch.cat([piece.keys for piece in pieces])
        self.entity = torch.div(keys, kg.n_relations, rounding_mode="floor")
        self.relation = keys % kg.n_relations
        self.starts = torch.cat([pieces[0].starts, pieces[1].starts + len(pieces[0].members)])
        self.counts = torch.cat([piece.counts for piece in pieces])
        self.members = torch.cat([piece.members for piece in pieces])
        weights = [each for side in SIDES if (each := answer_weights(kg, side)) is not None]
        self.weights = torch.cat(weights) if weights else None
        self.relation_block = relation_block
        self.n_entities, self.n_candidates = kg.n_entities, n_candidates

    def __len__(self) -> int:
        return len(self.entity)

    def n_batches(self, batch_size: int) -> int:
        """How many batches an epoch has."""
        return -(-len(self) // batch_size)

    def epoch(self, batch_size: int, generator: torch.Generator, share: Share) -> QueryBatches:
        """Shuffled queries, `batch_size` of them in a step of all processes together."""
        kind = self.relation * len(SIDES) + self.side
        order = shuffled(kind, self.relation_block, generator)
        place = torch.arange(len(order))
        mine = place % share.world == share.rank
        batch = place[mine] // batch_size
        part = batch * len(SIDES) + self.side[order[mine]]
        by_part = part.argsort(stable=True)
        drawn = None
        if self.n_candidates is not None:
            shape = (self.n_batches(batch_size), self.n_candidates)
            drawn = torch.randint(self.n_entities, shape, generator=generator)
        return QueryBatches(self, order[mine][by_part], part[by_part], batch_size, share, drawn)


class QueryBatches:
    """One epoch of `QueryBatch`es: laid out at once on the CPU, moved to the device at once, then sliced.

    Args:
        examples: what there is.
        order: the examples of this process, those of a batch and side together.
        part: batch and side of each: `2 * batch + side`.
        batch_size: of all processes.
        share: where the batches go.
        drawn: `(n_batches, n_candidates)` entities; None: all.
    """

    def __init__(
        self,
        examples: QueryExamples,
        order: Tensor,
        part: Tensor,
        batch_size: int,
        share: Share,
        drawn: Tensor | None = None,
    ) -> None:
        n = len(examples)
        self.n_batches = examples.n_batches(batch_size)
        # The same divisors for all batches, so that each example weighs the same in an epoch.
        self.mean_queries = min(batch_size, n) / share.world
        self.mean_answers = self.mean_queries * len(examples.members) / n
        sizes = torch.bincount(part, minlength=len(SIDES) * self.n_batches)
        counts = examples.counts[order]
        rows, answers = expand_ranges(examples.starts[order], counts, examples.members)
        weights = []
        if examples.weights is not None:
            _, each = expand_ranges(examples.starts[order], counts, examples.weights)
            weights = [each, each.new_zeros(len(order)).index_add_(0, rows, each)]
        rows = rows - (sizes.cumsum(0) - sizes)[part[rows]]
        n_pairs = torch.zeros_like(sizes).index_add_(0, part, counts)
        queries = (examples.entity[order], examples.relation[order], counts)
        to = share.device
        self._drawn = None if drawn is None else drawn.to(to)
        self._columns = [
            *([piece.to(to).split(sizes.tolist()) for piece in queries]),
            *([piece.to(to).split(n_pairs.tolist()) for piece in (rows, answers, *weights[:1])]),
            *([piece.to(to).split(sizes.tolist()) for piece in weights[1:]]),
        ]

    def __len__(self) -> int:
        return self.n_batches

    def __iter__(self) -> Iterator[QueryBatch]:
        sides = zip(*self._columns, strict=True)
        for i, (tail, head) in enumerate(zip(sides, sides, strict=True)):
            drawn = None if self._drawn is None else self._drawn[i]
            yield QueryBatch(
                SideBatch(*tail)._replace(drawn=drawn),
                SideBatch(*head)._replace(drawn=drawn),
                self.mean_queries,
                self.mean_answers,
            )


class _Pieces(NamedTuple):
    keys: Tensor
    starts: Tensor
    counts: Tensor
    members: Tensor


def _split_queries(kg: KnowledgeGraph, side: str, most: int | None) -> _Pieces:
    """The train queries of one side, those with more than `most` answers in several pieces."""
    index = kg.answers(side, "train")
    counts = index.offsets.diff()
    if most is None:
        return _Pieces(index.keys, index.offsets[:-1], counts, index.members)
    n_pieces = (counts + most - 1) // most
    query = torch.arange(len(counts)).repeat_interleave(n_pieces)
    number = torch.arange(len(query)) - (n_pieces.cumsum(0) - n_pieces)[query]
    starts = index.offsets[query] + number * most
    ends = torch.minimum(starts + most, index.offsets[query + 1])
    return _Pieces(index.keys[query], starts, ends - starts, index.members)
