"""TransE: relations as translations."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.errors import ConfigError, require_float
from mohone.kge.base import KGEModel, Query, normal_table, rows

_LEAST_SQUARE = 1e-12  # Keeps the gradient of the root finite where a distance is 0.


class TransE(KGEModel):
    """`score(h, r, t) = -|h + r - t|`, L1 or L2 [Bordes et al., NeurIPS 2013, eq. 1].

    With L2 all candidates are scored by one product, `|q - t|^2 = |q|^2 - 2 q.t + |t|^2`.

    Args:
        norm: 1 or 2.
        init_std: first vectors have about this length: numbers are normal with `init_std / sqrt(dim)`.
    """

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        norm: int = 2,
        init_std: float = 1.0,
    ) -> None:
        super().__init__(n_entities, n_relations, dim)
        if norm not in (1, 2):
            raise ConfigError(f"`kge_model.norm` must be 1 or 2, but is {norm!r}.")
        self.norm = norm
        std = require_float("kge_model.init_std", init_std) / dim**0.5
        self.entity = normal_table(n_entities, dim, std)
        self.relation = normal_table(n_relations, dim, std)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h + r`: `(batch, dim)`."""
        return Query(head, relation, rows(self.entity, head) + rows(self.relation, relation))

    def head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`t - r`: `(batch, dim)`."""
        return Query(tail, relation, rows(self.entity, tail) - rows(self.relation, relation))

    def match(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """Minus the distances to the candidates: `(batch, n_candidates)`."""
        q, table = query.vectors, rows(self.entity, candidates)
        if self.norm == 1:
            return -torch.cdist(q, table, p=1.0)
        squares = torch.addmm(table.square().sum(1), q, table.T, alpha=-2.0)
        squares.add_(q.square().sum(1, keepdim=True))
        return -squares.clamp(min=_LEAST_SQUARE).sqrt()

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        difference = rows(self.entity, head) + rows(self.relation, relation) - rows(self.entity, tail)
        if self.norm == 1:
            return -difference.abs().sum(1)
        return -difference.square().sum(1).clamp(min=_LEAST_SQUARE).sqrt()

    def entity_squares(self, entities: Tensor) -> Tensor:
        """`(batch, dim)`."""
        return rows(self.entity, entities).square()

    def relation_squares(self, relations: Tensor) -> Tensor:
        """`(batch, dim)`."""
        return rows(self.relation, relations).square()
