"""A model around another one, which it is in all that a subclass does not change."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from mohone.kge.base import BlockScores, KGEModel, Query

_INNER = "inner."


class Wrapped(KGEModel):
    """Hands everything to `inner`, but `score_relations`, which asks with queries of its own.

    Args:
        inner: the model inside.
    """

    def __init__(self, inner: KGEModel) -> None:
        super().__init__(inner.n_entities, inner.n_relations, inner.dim, inner.reciprocal)
        self.inner = inner
        self.relation_block, self.block_queries = inner.relation_block, inner.block_queries

    def own_state(self) -> dict[str, Any]:
        """What `state_dict` has beside the inner model's."""
        return {name: value for name, value in self.state_dict().items() if not name.startswith(_INNER)}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """Read it back; what a state has of an inner model is passed over.

        Raises:
            RuntimeError: it is another model's.
        """
        own = {name: value for name, value in state.items() if not name.startswith(_INNER)}
        self.load_state_dict({**self.state_dict(), **own})

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """The inner model's: `(batch, width)`."""
        return self.inner.tail_query(head, relation)

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """The inner model's: `(batch, width)`."""
        return self.inner.plain_head_query(relation, tail)

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """The inner model's: `(batch, n_candidates)`."""
        return self.inner.score_candidates(query, candidates)

    def block_scores(self, query: Query) -> BlockScores:
        """The inner model's."""
        return self.inner.block_scores(query)

    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """The inner model's: `(batch,)`."""
        return self.inner.score_pairs(query, candidates)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """The inner model's: `(batch,)`."""
        return self.inner.score_triples(head, relation, tail)

    def entity_squares(self, entities: Tensor) -> Tensor:
        """The inner model's: `(batch, n_components)`."""
        return self.inner.entity_squares(entities)

    def relation_squares(self, relations: Tensor | None = None) -> Tensor:
        """The inner model's: `(batch, n_components)`."""
        return self.inner.relation_squares(relations)

    def warm_up(self, on: bool) -> None:
        """The inner model."""
        self.inner.warm_up(on)

    def constrain(self) -> None:
        """The inner model."""
        self.inner.constrain()

    def entity_parameters(self) -> dict[str, nn.Parameter]:
        """The inner model's."""
        return self.inner.entity_parameters()

    def relation_parameters(self) -> dict[str, nn.Parameter]:
        """The inner model's."""
        return self.inner.relation_parameters()
