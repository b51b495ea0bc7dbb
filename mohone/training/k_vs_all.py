"""Training against all entities, a query with all its answers at a time."""

from __future__ import annotations

from torch import Tensor

from mohone.core.errors import require_choice
from mohone.data import KnowledgeGraph
from mohone.kge.base import KGEModel, Query
from mohone.training.losses import answer_logistic, answer_softmax
from mohone.training.queries import QueryBatch, QueryExamples, QueryObjective, SideBatch

LOSSES = ("softmax", "logistic")


class KvsAll(QueryObjective):
    """Each distinct query, of either side, is one example, with all its answers [Dettmers et al., AAAI 2018].

    Unlike in `OneVsAll`, a query weighs the same however many answers it has: each counts by the number of
    them. Where triples have weights, the term of an answer counts by its weight, too, so that a query counts
    by the mean weight of its answers.

    Args:
        loss: `softmax`, cross-entropy with a target spread evenly over the answers; or `logistic`, binary
            cross-entropy of every entity.
        **regularisation: of `Objective`.
    """

    def __init__(self, loss: str = "softmax", **regularisation: float) -> None:
        super().__init__(**regularisation)  # type: ignore[arg-type]
        self.loss_name = require_choice("training.loss", loss, LOSSES)

    def examples(self, kg: KnowledgeGraph, relation_block: int = 1) -> QueryExamples:
        """The distinct queries of both sides."""
        return QueryExamples(kg, None, self.relation_block or relation_block)

    def loss(self, model: KGEModel, batch: QueryBatch) -> Tensor:
        """The mean over the queries of both sides."""
        return self.sides_loss(model, batch, 1 / batch.mean_queries)

    def answer_weight(self, side: SideBatch) -> Tensor:
        """Those of a query count as one, but for the weights of their triples: `(n_pairs,)`."""
        each = side.n_answers.float().reciprocal()[side.rows]
        return each if side.weights is None else each * side.weights

    def side_loss(self, model: KGEModel, query: Query, side: SideBatch, scale: float) -> Tensor:
        """`scale` times the sum over one side's queries."""
        scores = model.score_candidates(self.drop(query))
        each = self.answer_weight(side)
        whole = None if side.total is None else side.total / side.n_answers
        if self.loss_name == "logistic":
            loss = answer_logistic(scores, side.rows, side.answers, self.label_smoothing, scale, side.weights)
        else:
            loss = answer_softmax(
                scores,
                side.rows,
                side.answers,
                each.new_full((len(scores),), scale) if whole is None else scale * whole,
                scale * each,
                smoothing=self.label_smoothing,
                inverse_temperature=self.inverse_temperature,
            )
        return loss + scale * self.penalty(model, query, whole, side.answers, each, side.rows)
