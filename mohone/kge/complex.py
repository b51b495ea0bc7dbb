"""ComplEx: a bilinear product of complex vectors."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import require_float
from mohone.kge.base import Query, normal_table
from mohone.kge.bilinear import BilinearModel


class ComplEx(BilinearModel):
    """`score(h, r, t) = Re(sum_k h_k r_k conj(t_k))` [Trouillon et al., ICML 2016, eq. 11].

    A vector of `dim` complex components is kept as `2 dim` numbers, the real parts first, so that the score
    of all candidates is one real product.

    Args:
        dim: complex components.
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
        self.entity = normal_table(n_entities, 2 * dim, std)
        self.relation = normal_table(self.n_relation_rows, 2 * dim, std)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h r`: `(batch, 2 dim)`."""
        h, r = self.lookup(self.entity, head), self.lookup(self.relation, relation)
        return Query(head, relation, product(h, r))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`t conj(r)`: `(batch, 2 dim)`."""
        t, r = self.lookup(self.entity, tail), self.lookup(self.relation, relation)
        return Query(tail, relation, conjugate_product(t, r))

    def score_relations(self, head: Tensor, tail: Tensor) -> Tensor:
        """`t conj(h)` times all relations: `(batch, n_relation_rows)`."""
        pairs = conjugate_product(self.lookup(self.entity, tail), self.lookup(self.entity, head))
        return pairs @ self.lookup(self.relation, None).T

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, r, t = (
            torch.complex(*self.lookup(table, ids).chunk(2, 1))
            for table, ids in ((self.entity, head), (self.relation, relation), (self.entity, tail))
        )
        return (h * r * t.conj()).real.sum(1)

    def entity_squares(self, entities: Tensor) -> Tensor:
        """Of complex components: `(batch, dim)`."""
        return moduli(self.lookup(self.entity, entities))

    def relation_squares(self, relations: Tensor | None = None) -> Tensor:
        """Of complex components: `(batch, dim)`."""
        return moduli(self.lookup(self.relation, relations))


def product(left: Tensor, right: Tensor) -> Tensor:
    """`left right` of complex vectors kept as `(batch, 2 n)`, real parts first: `(batch, 2 n)`.

    >>> product(torch.tensor([[1, 2]]), torch.tensor([[3, 4]])).tolist()  # (1 + 2i) (3 + 4i)
    [[-5, 10]]
    """
    a, b = left.chunk(2, 1)
    c, d = right.chunk(2, 1)
    return torch.cat([a * c - b * d, a * d + b * c], 1)


def conjugate_product(left: Tensor, right: Tensor) -> Tensor:
    """`left conj(right)` of complex vectors kept as `(batch, 2 n)`, real parts first: `(batch, 2 n)`.

    >>> conjugate_product(torch.tensor([[1, 2]]), torch.tensor([[3, 4]])).tolist()  # (1 + 2i) (3 - 4i)
    [[11, 2]]
    """
    a, b = left.chunk(2, 1)
    c, d = right.chunk(2, 1)
    return torch.cat([a * c + b * d, b * c - a * d], 1)


def moduli(vectors: Tensor) -> Tensor:
    """Squared moduli of complex vectors kept as `(batch, 2 n)`, real parts first: `(batch, n)`.

    >>> moduli(torch.tensor([[3, 1, 4, 0]])).tolist()  # |3 + 4i|^2 and |1 + 0i|^2
    [[25, 1]]
    """
    real, imaginary = vectors.chunk(2, 1)
    return real.square() + imaginary.square()
