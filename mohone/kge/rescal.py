"""RESCAL: a bilinear product with a full matrix for each relation."""

from __future__ import annotations

from torch import Tensor

from mohone.core.errors import require_float
from mohone.kge.base import Query, normal_table
from mohone.kge.bilinear import BilinearModel
from mohone.kge.relation_groups import products_by_relation


class RESCAL(BilinearModel):
    """`score(h, r, t) = h^T R_r t` [Nickel et al., ICML 2011, eq. 1].

    Args:
        init_std: standard deviation of the first numbers of entities; those of the matrices are
            `1 / sqrt(dim)` times normal ones, so that a query is about as long as its entity.
        reciprocal: see `KGEModel`.
    """

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        init_std: float = 0.1,
        reciprocal: bool = False,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, reciprocal)
        self.entity = normal_table(n_entities, dim, require_float("kge_model.init_std", init_std))
        self.relation = normal_table(self.n_relation_rows, dim * dim, dim**-0.5)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h^T R`: `(batch, dim)`."""
        h = self.lookup(self.entity, head)
        return Query(head, relation, products_by_relation(h, relation, self._matrices))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`R t`: `(batch, dim)`."""
        t = self.lookup(self.entity, tail)
        return Query(tail, relation, products_by_relation(t, relation, self._matrices, transposed=True))

    def score_relations(self, head: Tensor, tail: Tensor) -> Tensor:
        """`h t^T` times all matrices: `(batch, n_relation_rows)`."""
        h, t = self.lookup(self.entity, head), self.lookup(self.entity, tail)
        return (h[:, :, None] * t[:, None]).flatten(1) @ self.lookup(self.relation, None).T

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        matrices = self._matrices[relation]
        h, t = self.lookup(self.entity, head), self.lookup(self.entity, tail)
        return (h[:, None] @ matrices @ t[:, :, None])[:, 0, 0]

    @property
    def _matrices(self) -> Tensor:
        return self.relation.view(-1, self.dim, self.dim)
