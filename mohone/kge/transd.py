"""TransD: projections made of a vector of the entity and a vector of the relation."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.kge.base import Query, normal_table
from mohone.kge.translation import TranslationModel


class TransD(TranslationModel):
    """`score(h, r, t) = -|h' + r - t'|` with `x' = x + (x_p.x) r_p` [Ji et al., ACL 2015, eq. 11-14].

    With `s = t_p.t`, a number for each entity, `|q - t - s r_p|^2` is one product of
    `[-2 q, 2 r_p, |q|^2, 1, -2 r_p.q, |r_p|^2]` and `[t, s t, 1, |t|^2, s, s^2]`.

    Both tables are per entity: the infusion moves the vectors and the projection vectors alike, and freezes
    both.

    Args:
        squared: is the distance squared, as in the paper?
        init_std: first vectors have about this length: numbers are normal with `init_std / sqrt(dim)`.
        max_norm: after each step no entity vector is longer (the paper's constraint: 1); None: any length.
        reciprocal: see `KGEModel`.
    """

    entity_tables = ("entity", "entity_projection")
    relation_tables = ("relation", "relation_projection")

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        squared: bool = False,
        init_std: float = 1.0,
        max_norm: float | None = None,
        reciprocal: bool = False,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, squared, init_std, max_norm, reciprocal)
        self.relation = normal_table(self.n_relation_rows, dim, self.std)
        self.entity_projection = normal_table(n_entities, dim, self.std)
        self.relation_projection = normal_table(self.n_relation_rows, dim, self.std)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h' + r`: `(batch, dim)`."""
        return Query(head, relation, self._project(head, relation) + self.lookup(self.relation, relation))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`t' - r`: `(batch, dim)`."""
        return Query(tail, relation, self._project(tail, relation) - self.lookup(self.relation, relation))

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """Minus the distances to the projected candidates: `(batch, n_candidates)`."""
        q, p = query.vectors, self.lookup(self.relation_projection, query.relation)
        t = self.lookup(self.entity, candidates)
        s = (self.lookup(self.entity_projection, candidates) * t).sum(1, keepdim=True)
        vectors = (torch.cat([-2 * q, 2 * p], 1), torch.cat([t, s * t], 1))
        numbers = (
            torch.cat([_squares(q), torch.ones_like(q[:, :1]), -2 * _dot(p, q), _squares(p)], 1),
            torch.cat([torch.ones_like(s), _squares(t), s, s.square()], 1),
        )
        if torch.is_autocast_enabled(q.device.type):
            # Squared lengths need all their digits: only the long product may be of low precision.
            product = vectors[0] @ vectors[1].T
            with torch.autocast(q.device.type, enabled=False):
                return self.minus_distance(numbers[0].float() @ numbers[1].float().T + product.float())
        left, right = (torch.cat(pair, 1) for pair in zip(vectors, numbers, strict=True))
        return self.minus_distance(left @ right.T)

    def differences(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch, dim)`."""
        return query.vectors - self._project(candidates, query.relation)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, t = self._project(head, relation), self._project(tail, relation)
        difference = h + self.lookup(self.relation, relation) - t
        return self.minus_distance(difference.square().sum(1))

    def entity_squares(self, entities: Tensor) -> Tensor:
        """Of vectors and projection vectors: `(batch, 2 dim)`."""
        both = [self.lookup(self.entity, entities), self.lookup(self.entity_projection, entities)]
        return torch.cat(both, 1).square()

    def relation_squares(self, relations: Tensor | None = None) -> Tensor:
        """Of vectors and projection vectors: `(batch, 2 dim)`."""
        both = [self.lookup(self.relation, relations), self.lookup(self.relation_projection, relations)]
        return torch.cat(both, 1).square()

    def _project(self, entities: Tensor, relations: Tensor) -> Tensor:
        x, x_p = self.lookup(self.entity, entities), self.lookup(self.entity_projection, entities)
        return x + _dot(x_p, x) * self.lookup(self.relation_projection, relations)


def _dot(left: Tensor, right: Tensor) -> Tensor:
    return (left * right).sum(1, keepdim=True)


def _squares(vectors: Tensor) -> Tensor:
    return vectors.square().sum(1, keepdim=True)
