"""Training against all entities, a triple at a time, with the answers of a query brought together."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import MOST, require_int
from mohone.data import KnowledgeGraph
from mohone.kge.base import KGEModel, Query
from mohone.training.losses import answer_softmax
from mohone.training.queries import QueryBatch, QueryExamples, QueryObjective, SideBatch


class OneVsAll(QueryObjective):
    """Softmax cross-entropy of each triple's tail, and of its head, against all entities.

    Triples with the same query share its row of scores: up to `answers_per_query` answers are one row of a
    batch. The objective of an epoch stays that of 1-vs-all, a sum over triples and sides, while FB15k-237's
    544,230 examples need 149,689 rows of scores at least; only the order of examples differs. At 1 it is the
    usual 1-vs-all.

    Args:
        answers_per_query: most answers of one query in one row; frequent queries have several rows.
        n_candidates: the softmax runs over the answers of the batch and so many entities drawn evenly for it,
            which is quicker where entities are many and epochs should be; None: over all entities.
        **regularisation: of `Objective`.
    """

    def __init__(
        self,
        answers_per_query: int = 16,
        n_candidates: int | None = None,
        **regularisation: float,
    ) -> None:
        super().__init__(**regularisation)  # type: ignore[arg-type]
        self.answers_per_query = require_int("training.answers_per_query", answers_per_query, 1, MOST)
        if n_candidates is not None:
            require_int("training.n_candidates", n_candidates, 1, MOST)
        self.n_candidates = n_candidates

    def examples(self, kg: KnowledgeGraph, relation_block: int = 1) -> QueryExamples:
        """The queries of both sides."""
        block = self.relation_block or relation_block
        return QueryExamples(kg, self.answers_per_query, block, self.n_candidates)

    def loss(self, model: KGEModel, batch: QueryBatch) -> Tensor:
        """The mean over the answers of both sides, each by the weight of its triple."""
        return self.sides_loss(model, batch, 1 / batch.mean_answers)

    def side_loss(self, model: KGEModel, query: Query, side: SideBatch, scale: float) -> Tensor:
        """`scale` times the sum over one side's answers."""
        candidates, answers = None, side.answers
        if side.drawn is not None:
            candidates, column = torch.unique(torch.cat([answers, side.drawn]), return_inverse=True)
            answers = column[: len(answers)]
        total, each = side.n_answers if side.total is None else side.total, self.answer_weight(side)
        scores = model.score_candidates(self.drop(query), candidates)
        loss = answer_softmax(
            scores,
            side.rows,
            answers,
            scale * total,
            scores.new_full((len(side.answers),), scale) if each is None else scale * each,
            smoothing=self.label_smoothing,
            inverse_temperature=self.inverse_temperature,
        )
        return loss + scale * self.penalty(model, query, total, side.answers, each, side.rows)
