"""TransH: translations on a hyperplane of each relation."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.kge.base import Query, normal_table
from mohone.kge.translation import TranslationModel, squared_distances


class TransH(TranslationModel):
    """`score(h, r, t) = -|P h + d - P t|` with `P x = x - (w.x) w` [Wang et al., AAAI 2014, eq. 1].

    The paper's constraints on relations hold exactly: the normal `w` is scaled to length 1 where it is used
    (eq. 4 there), and the translation is `P d`, so that it lies in the hyperplane (eq. 3, soft there). A
    projection is symmetric, so `|q - P t|^2 = |q - t|^2 - (w.t)^2` for `q` in the hyperplane: two products.

    Args:
        squared: is the distance squared, as in the paper?
        init_std: first vectors have about this length: numbers are normal with `init_std / sqrt(dim)`.
        max_norm: after each step no entity vector is longer (soft in the paper: 1); None: any length.
        reciprocal: see `KGEModel`.
    """

    relation_tables = ("relation", "normal")

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
        self.normal = normal_table(self.n_relation_rows, dim, dim**-0.5)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`P (h + d)`: `(batch, dim)`."""
        moved = self.lookup(self.entity, head) + self.lookup(self.relation, relation)
        return Query(head, relation, self._project(moved, relation))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`P (t - d)`: `(batch, dim)`."""
        moved = self.lookup(self.entity, tail) - self.lookup(self.relation, relation)
        return Query(tail, relation, self._project(moved, relation))

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """Minus the distances to the projected candidates: `(batch, n_candidates)`."""
        table = self.lookup(self.entity, candidates)
        # Not query.vectors as they are: dropout may have moved them off the hyperplane.
        vectors = self._project(query.vectors, query.relation)
        distinct, inverse = torch.unique(query.relation, return_inverse=True)
        along = (self._normals(distinct) @ table.T).square()
        return self.minus_distance(squared_distances(vectors, table) - self.lookup(along, inverse))

    def differences(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch, dim)`, in the hyperplane."""
        return self._project(query.vectors - self.lookup(self.entity, candidates), query.relation)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, t, d, w = (
            self.lookup(self.entity, head),
            self.lookup(self.entity, tail),
            self.lookup(self.relation, relation),
            self._normals(relation),
        )
        flat_h, flat_d, flat_t = (x - (w * x).sum(1, keepdim=True) * w for x in (h, d, t))
        return self.minus_distance((flat_h + flat_d - flat_t).square().sum(1))

    def _normals(self, relation: Tensor) -> Tensor:
        return F.normalize(self.lookup(self.normal, relation), dim=1)

    def _project(self, vectors: Tensor, relation: Tensor) -> Tensor:
        normal = self._normals(relation)
        return vectors - (vectors * normal).sum(1, keepdim=True) * normal
