"""Own relation vectors for predicting heads: `(?, r, t)` is asked as `(t, r^-1, ?)`."""

from __future__ import annotations

from torch import Tensor

from mohone.kge.base import KGEModel, Query
from mohone.kge.wrapped import Wrapped


class Reciprocal(Wrapped):
    """Any model with a second vector for each relation, its inverse [Lacroix et al., ICML 2018].

    Predicting tails and predicting heads are then two functions: `score_triples` is the tails' one, and the
    heads' one is `inner.score_triples(tail, relation + n_relations, head)`. The inner model's relations from
    `n_relations` on are the inverse ones.

    Args:
        inner: a model of `2 * n_relations` relations.
    """

    def __init__(self, inner: KGEModel) -> None:
        super().__init__(inner, inner.n_relations // 2)

    def head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """The inner model's query for tails of the inverse relation: `(batch, width)`."""
        return self.inner.tail_query(tail, relation + self.n_relations)
