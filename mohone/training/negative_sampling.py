"""Training against sampled negatives that a whole batch shares."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.errors import require_bool, require_choice, require_float, require_int
from mohone.data import SIDES, GroupIndex, KnowledgeGraph, answer_column, query_keys
from mohone.kge.base import KGEModel, Query
from mohone.training.losses import answer_softmax, logistic, margin_ranking, self_adversarial
from mohone.training.objective import Objective, Share, shuffled

log = logging.getLogger(__name__)
LOSSES = ("softmax", "margin", "logistic", "self_adversarial")
CORRUPTIONS = ("both", "uniform", "bernoulli")


class TripleBatch(NamedTuple):
    """Triples whose tails, and triples whose heads, are compared with `negatives`, `(n_negatives,)` entities.

    `n_examples` is by what the summed loss of both sides is divided.
    """

    tails: Tensor
    heads: Tensor
    negatives: Tensor
    n_examples: float


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
        self._known: dict[str, GroupIndex] = {}

    def examples(self, kg: KnowledgeGraph) -> TripleExamples:
        """The triples."""
        self._known = {side: kg.answers(side, "train") for side in SIDES} if self.filtered else {}
        for side, index in self._known.items():
            n_full = int((index.offsets.diff() == kg.n_entities).sum())
            if n_full:
                log.warning("%d %s queries have no negative: all entities are right answers.", n_full, side)
        return TripleExamples(kg, self.n_negatives, self.corruption, self.relation_block)

    def loss(self, model: KGEModel, batch: TripleBatch) -> Tensor:
        """The mean over both sides' examples."""
        head, relation, tail = batch.tails.T
        tails = self._side_loss(model, "tail", model.tail_query(head, relation), batch.tails, batch.negatives)
        head, relation, tail = batch.heads.T
        heads = self._side_loss(model, "head", model.head_query(relation, tail), batch.heads, batch.negatives)
        return (tails + heads) / batch.n_examples

    def _side_loss(
        self, model: KGEModel, side: str, query: Query, triples: Tensor, negatives: Tensor
    ) -> Tensor:
        answers = triples[:, answer_column(side)]
        asked = self.drop(query)
        own = torch.arange(len(answers), device=answers.device)
        if self.in_batch:
            candidates = torch.cat([answers, negatives])
            scores, columns = model.score_candidates(asked, candidates), own
        else:
            candidates = negatives
            gold = model.score_pairs(asked, answers)
            scores, columns = torch.cat([gold[:, None], model.score_candidates(asked, negatives)], 1), own * 0
        left_out = self._left_out(model, side, triples, answers, candidates)
        if self.loss_name == "softmax":
            loss = answer_softmax(
                scores,
                own,
                columns,
                torch.ones_like(own),
                smoothing=self.label_smoothing,
                inverse_temperature=self.inverse_temperature,
                left_out=left_out,
            )
        else:
            loss = self._pairwise(scores, columns, left_out)
        return loss + self.penalty(model, query, None, answers)

    def _pairwise(self, scores: Tensor, columns: Tensor, left_out: Tensor) -> Tensor:
        if self.loss_name == "margin":
            return margin_ranking(scores, columns, left_out, self.margin)
        if self.loss_name == "logistic":
            return logistic(scores, columns, left_out)
        return self_adversarial(scores, columns, left_out, self.margin, self.inverse_temperature)

    def _left_out(
        self, model: KGEModel, side: str, triples: Tensor, answers: Tensor, candidates: Tensor
    ) -> Tensor:
        """What is no candidate of each query: a column for each of its scores."""
        out = candidates[None, :] == answers[:, None]
        if self.filtered:
            keys = query_keys(triples, side, model.n_relations)
            rows, members = self._known[side].to(keys.device).lookup(keys)
            known = out.new_zeros(len(answers), model.n_entities)
            known[rows, members] = True
            out |= known[:, candidates]
        if self.in_batch:
            return out.fill_diagonal_(False)
        return torch.cat([out.new_zeros(len(answers), 1), out], 1)


class TripleExamples:
    """The triples of the train split, and the entities that negatives are drawn from."""

    def __init__(self, kg: KnowledgeGraph, n_negatives: int, corruption: str, relation_block: int) -> None:
        self.triples, self.n_entities = kg.train, kg.n_entities
        self.n_negatives, self.relation_block = n_negatives, relation_block
        self.head_chance = _head_chance(kg, corruption)

    def epoch(self, batch_size: int, generator: torch.Generator, share: Share) -> TripleBatches:
        """Shuffled triples, `batch_size` of them in a step of all processes together."""
        order = shuffled(self.triples[:, 1], self.relation_block, generator)
        n_batches = -(-len(order) // batch_size)
        negatives = torch.randint(self.n_entities, (n_batches, self.n_negatives), generator=generator)
        head_is_asked = None
        if self.head_chance is not None:
            head_is_asked = torch.rand(len(order), generator=generator) < self.head_chance[order]
        return TripleBatches(self.triples[order], head_is_asked, negatives, batch_size, share)


def _head_chance(kg: KnowledgeGraph, corruption: str) -> Tensor | None:
    """With what chance the head of each train triple is replaced: `(n,)`; None: always both sides."""
    if corruption == "both":
        return None
    relation = kg.train[:, 1]
    if corruption == "uniform":
        return torch.full((len(relation),), 0.5)
    queries = {side: torch.bincount(kg.answers(side, "train").keys % kg.n_relations) for side in SIDES}
    # tph = triples / distinct (h, r); hpt = triples / distinct (r, t): their ratio needs no triples.
    tph, hpt = queries["tail"].reciprocal(), queries["head"].reciprocal()
    return (tph / (tph + hpt))[relation]


class TripleBatches:
    """One epoch of `TripleBatch`es, moved to the device at once, then sliced.

    Args:
        triples: `(n, 3)`, shuffled.
        head_is_asked: `(n,)`: is the head replaced, and not the tail? None: both are.
        negatives: `(n_batches, n_negatives)`.
        batch_size: of all processes.
        share: where the batches go.
    """

    def __init__(
        self,
        triples: Tensor,
        head_is_asked: Tensor | None,
        negatives: Tensor,
        batch_size: int,
        share: Share,
    ) -> None:
        place = torch.arange(len(triples))
        mine = place % share.world == share.rank
        self.negatives = negatives.to(share.device)
        self.batch_size, self.world, self.n = batch_size, share.world, len(triples)
        self.n_sides = 1 if head_is_asked is not None else len(SIDES)
        asked = torch.ones_like(mine) if head_is_asked is None else ~head_is_asked
        self._tails = self._split(triples, place, mine & asked, share)
        self._heads = self._tails
        if head_is_asked is not None:
            self._heads = self._split(triples, place, mine & head_is_asked, share)

    def _split(self, triples: Tensor, place: Tensor, wanted: Tensor, share: Share) -> tuple[Tensor, ...]:
        sizes = torch.bincount(place[wanted] // self.batch_size, minlength=len(self))
        parts: tuple[Tensor, ...] = triples[wanted].to(share.device).split(sizes.tolist())
        return parts

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __iter__(self) -> Iterator[TripleBatch]:
        for i, (tails, heads) in enumerate(zip(self._tails, self._heads, strict=True)):
            size = min(self.batch_size, self.n - i * self.batch_size)
            yield TripleBatch(tails, heads, self.negatives[i], self.n_sides * size / self.world)
