"""Own relation vectors for predicting heads: `(?, r, t)` is asked as `(t, r^-1, ?)`."""

from __future__ import annotations

from torch import Tensor, nn

from mohone.kge.base import KGEModel, Query


class Reciprocal(KGEModel):
    """Any model with a second vector for each relation, its inverse [Lacroix et al., ICML 2018].

    Predicting tails and predicting heads are then two functions: `score_triples` is the tails' one, and the
    heads' one is `inner.score_triples(tail, relation + n_relations, head)`.

    Args:
        inner: a model of `2 * n_relations` relations.
    """

    def __init__(self, inner: KGEModel) -> None:
        super().__init__(inner.n_entities, inner.n_relations // 2, inner.dim)
        self.inner = inner

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """The inner model's query for tails: `(batch, width)`."""
        return self.inner.tail_query(head, relation)

    def head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """The inner model's query for tails of the inverse relation: `(batch, width)`."""
        return self.inner.tail_query(tail, relation + self.n_relations)

    def match(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """`(batch, n_candidates)`."""
        return self.inner.match(query, candidates)

    def match_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch,)`."""
        return self.inner.match_pairs(query, candidates)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`, in the direction of tails."""
        return self.inner.score_triples(head, relation, tail)

    def entity_squares(self, entities: Tensor) -> Tensor:
        """`(batch, n_components)`."""
        return self.inner.entity_squares(entities)

    def relation_squares(self, relations: Tensor) -> Tensor:
        """`(batch, n_components)`; inverse relations are those from `n_relations` on."""
        return self.inner.relation_squares(relations)

    def hold(self, on: bool) -> None:
        """The inner model's."""
        self.inner.hold(on)

    def constrain(self) -> None:
        """The inner model's."""
        self.inner.constrain()

    def entity_parameters(self) -> dict[str, nn.Parameter]:
        """The inner model's."""
        return self.inner.entity_parameters()

    def relation_parameters(self) -> dict[str, nn.Parameter]:
        """The inner model's, twice as long."""
        return self.inner.relation_parameters()
