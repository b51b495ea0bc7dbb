"""ComplEx: a bilinear product of complex vectors."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.errors import require_float
from mohone.kge.base import KGEModel, Query, normal_table, rows


class ComplEx(KGEModel):
    """`score(h, r, t) = Re(sum_k h_k r_k conj(t_k))` [Trouillon et al., ICML 2016, eq. 11].

    A vector of `dim` complex components is kept as `2 dim` numbers, the real parts first, so that the score
    of all candidates is one real product.

    Args:
        dim: complex components.
        init_std: standard deviation of the first numbers.
    """

    def __init__(self, n_entities: int, n_relations: int, dim: int = 100, init_std: float = 1e-3) -> None:
        super().__init__(n_entities, n_relations, dim)
        std = require_float("kge_model.init_std", init_std)
        self.entity = normal_table(n_entities, 2 * dim, std)
        self.relation = normal_table(n_relations, 2 * dim, std)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h r`: `(batch, 2 dim)`."""
        h, g = rows(self.entity, head).chunk(2, 1)
        r, s = rows(self.relation, relation).chunk(2, 1)
        return Query(head, relation, torch.cat([h * r - g * s, h * s + g * r], 1))

    def head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`t conj(r)`: `(batch, 2 dim)`."""
        t, u = rows(self.entity, tail).chunk(2, 1)
        r, s = rows(self.relation, relation).chunk(2, 1)
        return Query(tail, relation, torch.cat([t * r + u * s, u * r - t * s], 1))

    def match(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """`(batch, n_candidates)`."""
        return query.vectors @ rows(self.entity, candidates).T

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, r, t = (
            torch.complex(*rows(table, ids).chunk(2, 1))
            for table, ids in ((self.entity, head), (self.relation, relation), (self.entity, tail))
        )
        return (h * r * t.conj()).real.sum(1)

    def entity_squares(self, entities: Tensor) -> Tensor:
        """`(batch, dim)`."""
        return _moduli(rows(self.entity, entities))

    def relation_squares(self, relations: Tensor) -> Tensor:
        """`(batch, dim)`."""
        return _moduli(rows(self.relation, relations))


def _moduli(vectors: Tensor) -> Tensor:
    real, imaginary = vectors.chunk(2, 1)
    return real.square() + imaginary.square()
