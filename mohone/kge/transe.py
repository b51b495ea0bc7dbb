"""TransE: relations as translations."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import ConfigError
from mohone.kge.base import Query, normal_table
from mohone.kge.translation import TranslationModel, squared_distances


class TransE(TranslationModel):
    """`score(h, r, t) = -|h + r - t|`, L1 or L2 [Bordes et al., NeurIPS 2013, eq. 1].

    With L2 all candidates are scored by one product; L1 has none and is several times slower.

    Args:
        norm: 1 or 2.
        squared: is the distance squared?
        init_std: first vectors have about this length (the paper scales them to 1): numbers are normal with
            `init_std / sqrt(dim)`.
        max_norm: after each step no entity vector is longer (the paper's constraint: 1); None: any length.
        reciprocal: see `KGEModel`.
    """

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        norm: int = 2,
        squared: bool = False,
        init_std: float = 1.0,
        max_norm: float | None = None,
        reciprocal: bool = False,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, squared, init_std, max_norm, reciprocal)
        if norm not in (1, 2):
            raise ConfigError(f"`kge_model.norm` must be 1 or 2, but is {norm!r}.")
        self.norm = norm
        self.relation = normal_table(self.n_relation_rows, dim, self.std)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`h + r`: `(batch, dim)`."""
        return Query(head, relation, self.lookup(self.entity, head) + self.lookup(self.relation, relation))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`t - r`: `(batch, dim)`."""
        return Query(tail, relation, self.lookup(self.entity, tail) - self.lookup(self.relation, relation))

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """Minus the distances to the candidates: `(batch, n_candidates)`."""
        table = self.lookup(self.entity, candidates)
        if self.norm == 1:
            return self._minus_power(torch.cdist(query.vectors.to(table.dtype), table, p=1.0))
        return self.minus_distance(squared_distances(query.vectors, table))

    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch,)`."""
        if self.norm == 1:
            return self._minus_power(self.differences(query, candidates).abs().sum(1))
        return super().score_pairs(query, candidates)

    def score_relations(self, head: Tensor, tail: Tensor) -> Tensor:
        """Minus the distances of relations to what leads from heads to tails: `(batch, n_relation_rows)`."""
        between = self.lookup(self.entity, tail) - self.lookup(self.entity, head)
        table = self.lookup(self.relation, None)
        if self.norm == 1:
            return self._minus_power(torch.cdist(between.to(table.dtype), table, p=1.0))
        return self.minus_distance(squared_distances(between, table))

    def differences(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch, dim)`."""
        return query.vectors - self.lookup(self.entity, candidates)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, t = self.lookup(self.entity, head), self.lookup(self.entity, tail)
        difference = h + self.lookup(self.relation, relation) - t
        if self.norm == 1:
            return self._minus_power(difference.abs().sum(1))
        return self.minus_distance(difference.square().sum(1))

    def _minus_power(self, distances: Tensor) -> Tensor:
        return -(distances.square() if self.squared else distances)
