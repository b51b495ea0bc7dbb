"""What models share whose scores are dot products of a query's vector with the candidates' vectors."""

from __future__ import annotations

from torch import Tensor

from mohone.kge.base import KGEModel, Query


class BilinearModel(KGEModel):
    """A model with `score = q(known entity, relation) . candidate`: one product scores all candidates."""

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """`(batch, n_candidates)`."""
        return query.vectors @ self.lookup(self.get_parameter("entity"), candidates).T

    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch,)`."""
        return (query.vectors * self.lookup(self.get_parameter("entity"), candidates)).sum(1)
