"""Which side of a query the infusion moves: both, as in the paper, or the known one alone."""

from __future__ import annotations

import copy
from collections.abc import Callable

from torch import Tensor, nn

from mohone.kge import KGEModel, Query, Wrapped


class QuerySide(Wrapped):
    """A model of which infusion moves the known entity of a query; candidates keep their vectors.

    Predicting tails and predicting heads are then two functions: `score_triples` is the tails' one, of the
    moved head and the unmoved tail.

    Args:
        inner: gives the candidates, and keeps its entity tables from now on; the entity tables of this model
            are copies of them, which ask. Relations are shared.
    """

    def __init__(self, inner: KGEModel) -> None:
        super().__init__(inner)
        shared = {id(table): table for table in inner.relation_parameters().values()}
        self.asking = copy.deepcopy(inner, memo=shared)
        for table in inner.entity_parameters().values():
            table.requires_grad_(False)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """Of the moved heads: `(batch, width)`."""
        return self.asking.tail_query(head, relation)

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """Of the moved tails: `(batch, width)`."""
        return self.asking.plain_head_query(relation, tail)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`, in the direction of tails."""
        return self.score_pairs(self.tail_query(head, relation), tail)

    def entity_squares(self, entities: Tensor) -> Tensor:
        """Of the moved entities: `(batch, n_components)`."""
        return self.asking.entity_squares(entities)

    def warm_up(self, on: bool) -> None:
        """Both models."""
        self.asking.warm_up(on)
        self.inner.warm_up(on)

    def constrain(self) -> None:
        """Both models."""
        self.asking.constrain()
        self.inner.constrain()

    def entity_parameters(self) -> dict[str, nn.Parameter]:
        """The tables that ask."""
        return self.asking.entity_parameters()

    @property
    def numbers_per_entity(self) -> int:
        """Of both vectors of an entity."""
        return self.asking.numbers_per_entity + self.inner.numbers_per_entity


def _itself(model: KGEModel) -> KGEModel:
    return model


MOVED: dict[str, Callable[[KGEModel], KGEModel]] = {"both": _itself, "query": QuerySide}
