"""DistMult: a bilinear product with a diagonal matrix for each relation."""

from __future__ import annotations

from torch import Tensor

from mohone.core.errors import require_float
from mohone.kge.base import Query, normal_table
from mohone.kge.bilinear import BilinearModel


class DistMult(BilinearModel):
    """`score(h, r, t) = sum_k h_k r_k t_k` [Yang et al., ICLR 2015, eq. 2 with a diagonal matrix].

    The score is the same in both directions of a relation, unless relations are reciprocal.

    Args:
        init_std: standard deviation of the first numbers.
        reciprocal: see `KGEModel`.
    """

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        init_std: float = 1e-3,
        reciprocal: bool = False,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, reciprocal)
        std = require_float("kge_model.init_std", init_std)
        self.entity = normal_table(n_entities, dim, std)
        self.relation = normal_table(self.n_relation_rows, dim, std)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h r`: `(batch, dim)`."""
        return Query(head, relation, self.lookup(self.entity, head) * self.lookup(self.relation, relation))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`t r`: `(batch, dim)`."""
        return Query(tail, relation, self.lookup(self.entity, tail) * self.lookup(self.relation, relation))

    def score_relations(self, head: Tensor, tail: Tensor) -> Tensor:
        """`h t` times all relations: `(batch, n_relation_rows)`."""
        pairs = self.lookup(self.entity, head) * self.lookup(self.entity, tail)
        return pairs @ self.lookup(self.relation, None).T

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, t = self.lookup(self.entity, head), self.lookup(self.entity, tail)
        return (h * self.lookup(self.relation, relation) * t).sum(1)
