"""TransR: translations in a space of each relation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mohone.core.errors import require_float, require_int
from mohone.kge.base import Query, normal_table
from mohone.kge.relation_groups import map_by_relation, products_by_relation
from mohone.kge.translation import TranslationModel, squared_distances


class TransR(TranslationModel):
    """`score(h, r, t) = -|M_r h + r - M_r t|` [Lin et al., AAAI 2015, eq. 7-8].

    The matrices start as identities, as in the paper, so that the model begins as TransE; while it warms up
    (`training.warmup_epochs`) it *is* TransE, which is the paper's warm start, in one training. Candidates
    are projected once for each relation of a batch.

    Args:
        relation_dim: dimensions of the relations' spaces; None: `dim`.
        squared: is the distance squared, as in the paper?
        init_std: first vectors have about this length: numbers are normal with `init_std / sqrt(dim)`.
        step_scale: matrices are kept as `I + step_scale * D`: the optimiser moves them so much more slowly.
        max_norm: after each step no entity vector is longer (the paper's constraint: 1); None: any length.
        reciprocal: see `KGEModel`.
    """

    relation_tables = ("relation", "projection")
    relation_block = 32

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        relation_dim: int | None = None,
        squared: bool = False,
        init_std: float = 1.0,
        step_scale: float = 0.1,
        max_norm: float | None = None,
        reciprocal: bool = False,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, squared, init_std, max_norm, reciprocal)
        wide = dim if relation_dim is None else require_int("kge_model.relation_dim", relation_dim, 1)
        self.step_scale = require_float("kge_model.step_scale", step_scale, strict=True)
        self.relation = normal_table(self.n_relation_rows, wide, self.std)
        self.projection = nn.Parameter(torch.zeros(self.n_relation_rows, wide, dim))

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`M h + r`: `(batch, relation_dim)`."""
        return Query(head, relation, self._project(head, relation) + self.lookup(self.relation, relation))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`M t - r`: `(batch, relation_dim)`."""
        return Query(tail, relation, self._project(tail, relation) - self.lookup(self.relation, relation))

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """Minus the distances to the projected candidates: `(batch, n_candidates)`."""
        table = self.lookup(self.entity, candidates)

        def distances(vectors: Tensor, matrix: Tensor) -> Tensor:
            return squared_distances(vectors, self._map(table, matrix))

        if self.warming_up:
            return self.minus_distance(squared_distances(query.vectors, self._plain(table)))
        squares = map_by_relation(distances, query.vectors, query.relation, self.projection)
        return self.minus_distance(squares)

    def differences(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch, relation_dim)`."""
        return query.vectors - self._project(candidates, query.relation)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, t = self.lookup(self.entity, head), self.lookup(self.entity, tail)
        identity = torch.eye(*self.projection.shape[1:], dtype=h.dtype, device=h.device)
        matrices = identity + self.step_scale * self.projection[relation]
        difference = (matrices @ (h - t)[:, :, None])[:, :, 0] + self.lookup(self.relation, relation)
        return self.minus_distance(difference.square().sum(1))

    def _project(self, entities: Tensor, relations: Tensor) -> Tensor:
        vectors = self.lookup(self.entity, entities)
        if self.warming_up:
            return self._plain(vectors)
        moved = products_by_relation(vectors, relations, self.projection, transposed=True)
        return self._plain(vectors) + self.step_scale * moved

    def _map(self, vectors: Tensor, matrix: Tensor) -> Tensor:
        return self._plain(vectors) + self.step_scale * (vectors @ matrix.T)

    def _plain(self, vectors: Tensor) -> Tensor:
        """The identity projection: cut, or filled up with zeros."""
        missing = self.projection.shape[1] - self.dim
        if missing <= 0:
            return vectors[:, : self.projection.shape[1]]
        return torch.cat([vectors, vectors.new_zeros(len(vectors), missing)], 1)
