"""Analogy: a DistMult part and a ComplEx part, side by side."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import ConfigError, require_float
from mohone.kge.base import Query, normal_table
from mohone.kge.bilinear import BilinearModel
from mohone.kge.complex import conjugate_product, moduli, product


class Analogy(BilinearModel):
    """`score(h, r, t) = sum_k h_k r_k t_k + Re(sum_k h'_k r'_k conj(t'_k))` [Liu et al., ICML 2017, eq. 9].

    Normal matrices that commute can be made block-diagonal together: `dim` real numbers on the diagonal and
    `dim / 2` blocks of two by two, which are complex numbers. So an entity has `2 dim` numbers, as in
    ComplEx, half of them in either part; the real part comes first.

    Args:
        dim: even.
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
        if dim % 2:
            raise ConfigError(f"`kge_model.dim` of Analogy must be even, but is {dim}.")
        std = require_float("kge_model.init_std", init_std)
        self.entity = normal_table(n_entities, 2 * dim, std)
        self.relation = normal_table(self.n_relation_rows, 2 * dim, std)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h r` of both parts: `(batch, 2 dim)`."""
        h, hc = self.lookup(self.entity, head).chunk(2, 1)
        r, rc = self.lookup(self.relation, relation).chunk(2, 1)
        return Query(head, relation, torch.cat([h * r, product(hc, rc)], 1))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`t r` and `t' conj(r')`: `(batch, 2 dim)`."""
        t, tc = self.lookup(self.entity, tail).chunk(2, 1)
        r, rc = self.lookup(self.relation, relation).chunk(2, 1)
        return Query(tail, relation, torch.cat([t * r, conjugate_product(tc, rc)], 1))

    def score_relations(self, head: Tensor, tail: Tensor) -> Tensor:
        """`h t` and `t' conj(h')` times all relations: `(batch, n_relation_rows)`."""
        (h, hc), (t, tc) = (self.lookup(self.entity, ids).chunk(2, 1) for ids in (head, tail))
        pairs = torch.cat([h * t, conjugate_product(tc, hc)], 1)
        return pairs @ self.lookup(self.relation, None).T

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        pairs = ((self.entity, head), (self.relation, relation), (self.entity, tail))
        (h, hc), (r, rc), (t, tc) = (self.lookup(table, ids).chunk(2, 1) for table, ids in pairs)
        hz, rz, tz = (torch.complex(*part.chunk(2, 1)) for part in (hc, rc, tc))
        return (h * r * t).sum(1) + (hz * rz * tz.conj()).real.sum(1)

    def entity_squares(self, entities: Tensor) -> Tensor:
        """`(batch, 1.5 dim)`: real numbers, then complex ones."""
        return _squares(self.lookup(self.entity, entities))

    def relation_squares(self, relations: Tensor | None = None) -> Tensor:
        """`(batch, 1.5 dim)`."""
        return _squares(self.lookup(self.relation, relations))


def _squares(vectors: Tensor) -> Tensor:
    real, pairs = vectors.chunk(2, 1)
    return torch.cat([real.square(), moduli(pairs)], 1)
