"""A model whose scores know the network: its own, mixed with the values of experts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mohone.data import SIDES
from mohone.evidence.directed import directed_blocks, directed_scores, distinct_queries
from mohone.evidence.expert import Expert
from mohone.evidence.explanation import MODEL, Explanation, Share
from mohone.evidence.facts import Facts
from mohone.kge import KGEModel, Query, Wrapped
from mohone.kge.base import BlockScores

_BLOCK_QUERIES = 256  # Experts find up to a million entities for each.
_GATHERED = 32  # Queries whose candidates are scored together.
_PART = "weights_of_"


class EvidenceModel(Wrapped):
    """`score'(h, r, t) = w_r0 inverse_temperature score(h, r, t) + sum_i w_ri x_i(h, r, t)`.

    Weights are of directed relations: predicting tails and predicting heads are two functions, and
    `score_triples` is the tails' one. It is evaluated, not trained: on the CPU, in float32, without
    gradients.

    Args:
        inner: the model.
        experts: with facts attached, or to be by `attach`.
        inverse_temperature: factor of the model's scores, as it was trained.

    Attributes:
        weights: `(2 n_relations, 1 + n_values)` float32, the model's own first; as made, the model alone.
    """

    def __init__(
        self,
        inner: KGEModel,
        experts: Sequence[Expert],
        inverse_temperature: float = 1.0,
    ) -> None:
        super().__init__(inner)
        self.block_queries = _BLOCK_QUERIES
        self.experts = nn.ModuleList(experts)
        self.inverse_temperature = inverse_temperature
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
        """`(batch, n_candidates)`; all are scored where some are asked for, and equal queries once."""
        known, relation, place = distinct_queries(query.entity, query.relation)
        scores = (
            self.weights[relation, :1]
            * self.inverse_temperature
            * directed_scores(self.inner, known, relation)
        )
        for expert, own in self._expert_weights(relation):
            expert.add_to(scores, known, relation, own)
        scores = scores if candidates is None else scores[:, candidates]
        return scores if torch.equal(place, torch.arange(len(scores))) else scores[place]

    @property
    def adds_to(self) -> KGEModel:
        """The model inside."""
        return self.inner

    def block_scores(self, query: Query) -> BlockScores:
        """As `score_candidates` scores them; what experts find is found once, now."""
        return self.block_scores_upon(query, directed_blocks(self.inner, query.entity, query.relation))

    @torch.no_grad()
    def block_scores_upon(self, query: Query, scores: BlockScores) -> BlockScores:
        """The same by the inner model's scores of these queries."""
        known, relation = query.entity, query.relation
        adders = [expert.block_adder(known, relation, own) for expert, own in self._expert_weights(relation)]
        scale = self.weights[relation, :1] * self.inverse_temperature

        @torch.no_grad()
        def score(candidates: Tensor) -> Tensor:
            mixed = (scale * scores(candidates)).contiguous()
            for add in adders:
                add(mixed, candidates)
            return mixed

        return score

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
        own = torch.empty(candidates.shape)
        # A few queries at a time, so that they score few of each other's candidates.
        for start in range(0, len(known), _GATHERED):
            some = slice(start, start + _GATHERED)
            each, place = candidates[some].unique(return_inverse=True)
            own[some] = directed_blocks(self.inner, known[some], relation[some])(each).gather(1, place)
        own *= self.inverse_temperature
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

    def _expert_weights(self, relation: Tensor) -> list[tuple[Expert, Tensor]]:
        """Each expert that has a weight with its columns of the weights: `(batch, n_values)`."""
        sizes = [1, *(len(expert.values) for expert in self._experts)]
        columns = self.weights[relation].split(sizes, 1)[1:]
        weighted = zip(self._experts, columns, strict=True)
        return [(expert, own.contiguous()) for expert, own in weighted if own.any()]
