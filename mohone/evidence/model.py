"""A model whose scores know the network: its own, mixed with the values of experts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mohone.data import SIDES
from mohone.evaluation.best_columns import BestSoFar
from mohone.evidence.directed import directed_blocks, directed_scores
from mohone.evidence.expert import Expert
from mohone.evidence.explanation import MODEL, Explanation, Share
from mohone.evidence.facts import Facts
from mohone.evidence.reranking import BLOCK, Weighted, dense_values, reranking, sinking
from mohone.kge import KGEModel, Query, Wrapped
from mohone.kge.base import BlockScores

MOST_ENTITIES = 50_000
_BLOCK_QUERIES = 32  # Of popular relations an expert finds millions of entities for each.
_PART = "weights_of_"


class EvidenceModel(Wrapped):
    """`score'(h, r, t) = w_r0 inverse_temperature score(h, r, t) + sum_i w_ri x_i(h, r, t)`.

    Weights are of directed relations: predicting tails and predicting heads are two functions, and
    `score_triples` is the tails' one. It is evaluated, not trained: on the CPU, in float32, without
    gradients.

    Beyond `most_entities`, the values of dense experts (heat) are added for the best `n_reranked` candidates
    of the model and all other experts alone. All others keep their order and lie below.

    Args:
        inner: the model.
        experts: with facts attached, or to be by `attach`.
        inverse_temperature: factor of the model's scores, as it was trained.
        most_entities: up to which all are scored.
        n_reranked: candidates beyond that.

    Attributes:
        weights: `(2 n_relations, 1 + n_values)` float32, the model's own first; as made, the model alone.
    """

    def __init__(
        self,
        inner: KGEModel,
        experts: Sequence[Expert],
        inverse_temperature: float = 1.0,
        most_entities: int = MOST_ENTITIES,
        n_reranked: int = 1000,
    ) -> None:
        super().__init__(inner)
        self.block_queries = _BLOCK_QUERIES
        self.experts = nn.ModuleList(experts)
        self.inverse_temperature = inverse_temperature
        self.most_entities, self.n_reranked = most_entities, n_reranked
        weights = torch.zeros(2 * self.n_relations, len(self.values))
        weights[:, 0] = 1.0
        self.register_buffer("weights", weights)
        self.weights: Tensor

    def keep_part(self, name: str, weights: Tensor) -> None:
        """Keep further weights beside, of a model whose gain is a part of this one's."""
        self.register_buffer(f"{_PART}{name}", weights)

    @property
    def parts(self) -> dict[str, EvidenceModel]:
        """The models of these weights, which share everything else, by name."""
        names = [name for name in self._buffers if name.startswith(_PART)]
        return {name.removeprefix(_PART): self._with(self.get_buffer(name)) for name in names}

    def _with(self, weights: Tensor) -> EvidenceModel:
        other = copy.copy(self)
        other._buffers = {"weights": weights}
        return other

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Parts are those that are stored."""
        for name in state_dict:
            if name.startswith(prefix + _PART):
                self.keep_part(name.removeprefix(prefix + _PART), torch.empty_like(state_dict[name]))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    @property
    def values(self) -> tuple[str, ...]:
        """The names of the values, as the columns of `weights`."""
        return (MODEL, *(name for expert in self._experts for name in expert.values))

    @property
    def _experts(self) -> list[Expert]:
        return [expert for expert in self.experts if isinstance(expert, Expert)]

    def attach(self, facts: Facts) -> None:
        """Give all experts the facts of the training triples."""
        for expert in self._experts:
            expert.attach(facts)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """The inner model's vectors; `relation` is the directed one."""
        return Query(head, relation, self.inner.tail_query(head, relation).vectors)

    def head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """The inner model's vectors; `relation` is the directed one, the inverse."""
        return Query(tail, relation + self.n_relations, self.inner.head_query(relation, tail).vectors)

    @torch.no_grad()
    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """`(batch, n_candidates)`; all are scored where some are asked for."""
        known, relation = query.entity, query.relation
        scores = (
            self.weights[relation, :1]
            * self.inverse_temperature
            * directed_scores(self.inner, known, relation)
        )
        added, reranked = self._expert_weights(relation)
        for expert, own in added:
            expert.add_to(scores, known, relation, own)
        if reranked:
            self._rerank(scores, known, relation, reranked)
        return scores if candidates is None else scores[:, candidates]

    @torch.no_grad()
    def block_scores(self, query: Query) -> BlockScores:
        """As `score_candidates` scores them: beyond `most_entities` all are scored once before."""
        known, relation = query.entity, query.relation
        added, reranked = self._expert_weights(relation)
        adders = [expert.block_adder(known, relation, own) for expert, own in added]
        inner = directed_blocks(self.inner, known, relation)
        scale = self.weights[relation, :1] * self.inverse_temperature

        @torch.no_grad()
        def first_scores(candidates: Tensor) -> Tensor:
            scores = (scale * inner(candidates)).contiguous()
            for add in adders:
                add(scores, candidates)
            return scores

        if not reranked:
            return first_scores
        best = self._best(first_scores, len(known))
        values = best.values + dense_values(reranked, known, relation, best.ids)
        return reranking(first_scores, best, values)

    @torch.no_grad()
    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch,)`."""
        values = self.values_at(query.entity, query.relation, candidates[:, None])[:, 0]
        return (values * self.weights[query.relation]).sum(1)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`, in the direction of tails."""
        return self.score_pairs(Query(head, relation, head), tail)

    def score_tails(self, head: Tensor, relation: Tensor, candidates: Tensor | None = None) -> Tensor:
        """`(batch, n_candidates)`."""
        return self.score_candidates(Query(head, relation, head), candidates)

    def score_heads(self, relation: Tensor, tail: Tensor, candidates: Tensor | None = None) -> Tensor:
        """`(batch, n_candidates)`."""
        return self.score_candidates(Query(tail, relation + self.n_relations, tail), candidates)

    @torch.no_grad()
    def values_at(self, known: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
        """The values of candidates `(batch, k)`, the scaled score of the model first.

        Args:
            known: `(batch,)` entities.
            relation: `(batch,)` directed relations.
            candidates: `(batch, k)`.

        Returns:
            `(batch, k, 1 + n_values)` float32.
        """
        own = directed_scores(self.inner, known, relation).gather(1, candidates) * self.inverse_temperature
        parts = [expert.at(known, relation, candidates) for expert in self._experts]
        return torch.cat([own[:, :, None], *parts], 2)

    def explain(self, side: str, known: int, relation: int, candidate: int) -> Explanation:
        """Why a candidate has its score.

        Args:
            side: `tail` or `head`, what is asked for.
            known: the other entity.
            relation: of the data set, not directed.
            candidate: the answer.
        """
        directed = relation + SIDES.index(side) * self.n_relations
        query = torch.tensor([known]), torch.tensor([directed])
        values = self.values_at(*query, torch.tensor([[candidate]]))[0, 0].tolist()
        owners = (MODEL, *(expert.name for expert in self._experts for _ in expert.values))
        shares = tuple(map(Share, owners, self.values, values, self.weights[directed].tolist()))
        reasons = {expert.name: expert.why(known, directed, candidate) for expert in self._experts}
        return Explanation(sum(share.contribution for share in shares), shares, reasons)

    def _expert_weights(self, relation: Tensor) -> tuple[list[Weighted], list[Weighted]]:
        """Each expert that has a weight with its columns of the weights: `(batch, n_values)`.

        Returns:
            those whose values are added to all scores, and those of the best candidates alone.
        """
        sizes = [1, *(len(expert.values) for expert in self._experts)]
        columns = self.weights[relation].split(sizes, 1)[1:]
        is_large = self.n_entities > self.most_entities
        added: list[Weighted] = []
        reranked: list[Weighted] = []
        for expert, own in zip(self._experts, columns, strict=True):
            if own.any():
                (reranked if expert.dense and is_large else added).append((expert, own.contiguous()))
        return added, reranked

    def _best(self, score: BlockScores, n: int) -> BestSoFar:
        """The candidates of n queries that are ranked anew."""
        best = BestSoFar(n, min(self.n_reranked, self.n_entities))
        for block in torch.arange(self.n_entities).split(BLOCK):
            best.add(score(block), block)
        return best

    def _rerank(self, scores: Tensor, known: Tensor, relation: Tensor, dense: list[Weighted]) -> None:
        """Add the dense values of the best candidates, in place, and put all others below them."""
        best, candidates = scores.topk(min(self.n_reranked, self.n_entities), 1)
        values = best + dense_values(dense, known, relation, candidates)
        scores -= sinking(best, values)
        scores.scatter_(1, candidates, values)
