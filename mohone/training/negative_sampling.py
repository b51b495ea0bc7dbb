"""Training against sampled negatives that a whole batch shares."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import require_bool, require_choice, require_float, require_int
from mohone.data import KnowledgeGraph
from mohone.kge.base import KGEModel, Query
from mohone.training.losses import answer_softmax, logistic, margin_ranking, self_adversarial
from mohone.training.objective import Objective
from mohone.training.triples import CORRUPTIONS, Pairs, TripleBatch, TripleExamples

LOSSES = ("softmax", "margin", "logistic", "self_adversarial")


class NegativeSampling(Objective):
    """Each triple's answers against shared negatives: one product scores all candidates of a batch.

    The candidates of a query are its right answer, `n_negatives` entities drawn evenly for the batch and, by
    `in_batch`, the answers of the batch's other queries. A candidate that is the right answer once more is
    never a negative.

    Args:
        n_negatives: entities drawn for each batch and shared by its triples.
        loss: `softmax`, `margin`, `logistic` or `self_adversarial`; see `mohone.training.losses`.
        margin: of `margin` and `self_adversarial`.
        corruption: which sides of a triple an epoch replaces: `both`; one by a coin (`uniform`); or one by
            `bernoulli`, the head with probability tph / (tph + hpt) [Wang et al. 2014], where tph is the mean
            number of tails of a head under the relation, and hpt that of heads of a tail.
        in_batch: are the other answers of the batch negatives, too?
        filtered: are other right answers of a query, by train, left out?
        **regularisation: of `Objective`.
    """

    def __init__(
        self,
        n_negatives: int = 512,
        loss: str = "softmax",
        margin: float = 1.0,
        corruption: str = "both",
        in_batch: bool = True,
        filtered: bool = False,
        **regularisation: float,
    ) -> None:
        super().__init__(**regularisation)  # type: ignore[arg-type]
        self.n_negatives = require_int("training.n_negatives", n_negatives, 1)
        self.loss_name = require_choice("training.loss", loss, LOSSES)
        self.margin = require_float("training.margin", margin)
        self.corruption = require_choice("training.corruption", corruption, CORRUPTIONS)
        self.in_batch = require_bool("training.in_batch", in_batch)
        self.filtered = require_bool("training.filtered", filtered)

    @property
    def asks_evenly(self) -> bool:
        """It does, but not for the network's neighbourhoods."""
        return not self.network_weight

    def examples(self, kg: KnowledgeGraph, relation_block: int = 1) -> TripleExamples:
        """The triples."""
        block = self.relation_block or relation_block
        return TripleExamples(kg, self.n_negatives, self.corruption, block, self.filtered)

    def loss(self, model: KGEModel, batch: TripleBatch) -> Tensor:
        """The mean over both sides' examples, each by the weight of its triple."""
        head, relation, tail = batch.tails.T
        query = model.tail_query(head, relation)
        weights = batch.tail_weights
        tails = self._side_loss(model, query, tail, batch.negatives, batch.known_tails, weights)
        tails = tails + self.relation_loss(model, query, tail, heads=False, weight=weights)
        head, relation, tail = batch.heads.T
        query = model.head_query(relation, tail)
        weights = batch.head_weights
        heads = self._side_loss(model, query, head, batch.negatives, batch.known_heads, weights)
        heads = heads + self.relation_loss(model, query, head, heads=True, weight=weights)
        return (tails + heads) / batch.n_examples

    def _side_loss(
        self,
        model: KGEModel,
        query: Query,
        answers: Tensor,
        negatives: Tensor,
        known: Pairs | None,
        weight: Tensor | None,
    ) -> Tensor:
        asked = self.drop(query)
        own = torch.arange(len(answers), device=answers.device)
        if self.in_batch:
            candidates = torch.cat([answers, negatives])
            scores, columns = model.score_candidates(asked, candidates), own
        else:
            candidates = negatives
            gold = model.score_pairs(asked, answers)
            scores = torch.cat([gold[:, None], model.score_candidates(asked, negatives)], 1)
            columns = own * 0
        left_out = self._left_out(answers, candidates, known, model.n_entities)
        if self.loss_name == "softmax":
            loss = answer_softmax(
                scores,
                own,
                columns,
                torch.ones_like(own) if weight is None else weight,
                weight,
                smoothing=self.label_smoothing,
                inverse_temperature=self.inverse_temperature,
                left_out=left_out,
            )
        else:
            loss = self._pairwise(scores, columns, left_out, weight)
        return loss + self.penalty(model, query, weight, answers, weight)

    def _pairwise(self, scores: Tensor, columns: Tensor, left_out: Tensor, weight: Tensor | None) -> Tensor:
        if self.loss_name == "margin":
            return margin_ranking(scores, columns, left_out, self.margin, weight)
        if self.loss_name == "logistic":
            return logistic(scores, columns, left_out, weight)
        return self_adversarial(scores, columns, left_out, self.margin, self.inverse_temperature, weight)

    def _left_out(self, answers: Tensor, candidates: Tensor, known: Pairs | None, n_entities: int) -> Tensor:
        """What is no candidate of each query: a column for each of its scores."""
        out = candidates[None, :] == answers[:, None]
        if known is not None:
            mask = out.new_zeros(len(answers), n_entities)
            mask[known[0], known[1]] = True
            out |= mask[:, candidates]
        if self.in_batch:
            return out.fill_diagonal_(False)
        return torch.cat([out.new_zeros(len(answers), 1), out], 1)
