"""TransH, TransR and TransD as PyKEEN scores them, so that what it has trained can go on here.

They differ from the models of the same names: a distance may be L1, TransR and TransD shorten what they have
projected to length 1, and TransH's normals have any length, its translations any direction.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from mohone.core.errors import ConfigError, require_bool, require_float, require_int
from mohone.kge.base import KGEModel, Query, normal_table
from mohone.kge.relation_groups import map_by_relation


class Projected(KGEModel):
    """`score(h, r, t) = -|p_r(h) + r - p_r(t)|` with a projection `p_r` of each relation.

    All entities are projected once for each relation of a batch, and met by plain distances.

    Args:
        relation_dim: dimensions of the relations' spaces; None: `dim`.
        norm: 1 or 2, of the distance.
        power: is the score the distance to the power of its norm?
        init_std: first vectors have about this length.
        reciprocal: see `KGEModel`.
    """

    relation_block = 32
    longest: ClassVar[float | None] = 1.0  # No projected entity is longer; None: any length.

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        relation_dim: int | None = None,
        norm: int = 2,
        power: bool = False,
        init_std: float = 1.0,
        reciprocal: bool = False,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, reciprocal)
        if norm not in (1, 2):
            raise ConfigError(f"`kge_model.norm` must be 1 or 2, but is {norm!r}.")
        self.norm, self.power = norm, require_bool("kge_model.power", power)
        wide = dim if relation_dim is None else require_int("kge_model.relation_dim", relation_dim, 1)
        self.relation_dim = wide
        self.std = require_float("kge_model.init_std", init_std) / dim**0.5
        self.entity = normal_table(n_entities, dim, self.std)
        self.relation = normal_table(self.n_relation_rows, wide, self.std)
        self.make_projections()

    @abstractmethod
    def make_projections(self) -> None:
        """The tables that say how entities are projected."""

    @abstractmethod
    def move(self, entities: Tensor | None, relations: Tensor) -> Tensor:
        """Entities as relations see them, of any length: `(n, relation_dim)`.

        Args:
            entities: `(n,)`; None: all.
            relations: `(n,)`, or `(1,)` for all alike.
        """

    def project(self, entities: Tensor | None, relations: Tensor) -> Tensor:
        """`move`, shortened to `longest`: `(n, relation_dim)`."""
        moved = self.move(entities, relations)
        if self.longest is None:
            return moved
        return moved * (self.longest / self.length(moved).clamp(min=self.longest))

    def length(self, moved: Tensor) -> Tensor:
        """By which projected entities are shortened: `(n, 1)`."""
        return _lengths(moved, 2)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """`p(h) + r`: `(batch, relation_dim)`."""
        return Query(head, relation, self.project(head, relation) + self.lookup(self.relation, relation))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`p(t) - r`: `(batch, relation_dim)`."""
        return Query(tail, relation, self.project(tail, relation) - self.lookup(self.relation, relation))

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """Minus the distances to the projected candidates: `(batch, n_candidates)`."""

        def scores(vectors: Tensor, relation: Tensor) -> Tensor:
            table = self.project(candidates, relation)
            mode = "donot_use_mm_for_euclid_dist"
            return torch.cdist(vectors.to(table.dtype), table, p=float(self.norm), compute_mode=mode)

        numbers = torch.arange(self.n_relation_rows, device=query.relation.device)[:, None]
        return self._minus(map_by_relation(scores, query.vectors, query.relation, numbers))

    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """`(batch,)`."""
        return self._minus(
            (query.vectors - self.project(candidates, query.relation)).norm(p=self.norm, dim=1)
        )

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch,)`."""
        h, t = self.project(head, relation), self.project(tail, relation)
        return self._minus((h + self.lookup(self.relation, relation) - t).norm(p=self.norm, dim=1))

    def _minus(self, distances: Tensor) -> Tensor:
        return -(distances**self.norm if self.power else distances)


class ProjectedTransH(Projected):
    """`p_r(x) = x - (w.x) w` with a normal `w` of any length [Wang et al., AAAI 2014]."""

    relation_tables = ("relation", "normal")
    longest = None

    def __init__(
        self,
        n_entities: int,
        n_relations: int,
        dim: int = 100,
        norm: int = 2,
        power: bool = False,
        init_std: float = 1.0,
        reciprocal: bool = False,
    ) -> None:
        super().__init__(n_entities, n_relations, dim, None, norm, power, init_std, reciprocal)

    def make_projections(self) -> None:
        """The normals."""
        self.normal = normal_table(self.n_relation_rows, self.dim, self.dim**-0.5)

    def move(self, entities: Tensor | None, relations: Tensor) -> Tensor:
        """`(n, dim)`."""
        x, w = self.lookup(self.entity, entities), self.lookup(self.normal, relations)
        return x - (x * w).sum(1, keepdim=True) * w


class ProjectedTransR(Projected):
    """`p_r(x) = x M_r`, no longer than 1 by the norm of the distance [Lin et al., AAAI 2015]."""

    relation_tables = ("relation", "projection")

    def make_projections(self) -> None:
        """The matrices."""
        wide = self.dim * self.relation_dim
        self.projection = normal_table(self.n_relation_rows, wide, self.dim**-0.5)

    def move(self, entities: Tensor | None, relations: Tensor) -> Tensor:
        """`(n, relation_dim)`."""
        x = self.lookup(self.entity, entities)
        matrices = self.lookup(self.projection, relations).view(-1, self.dim, self.relation_dim)
        return x @ matrices[0] if len(matrices) == 1 else (x[:, None] @ matrices)[:, 0]

    def length(self, moved: Tensor) -> Tensor:
        """`(n, 1)`."""
        return _lengths(moved, self.norm)


class ProjectedTransD(Projected):
    """`p_r(x) = x + (x_p.x) r_p`, no longer than 1 [Ji et al., ACL 2015]; `x` is cut, or filled up."""

    entity_tables = ("entity", "entity_projection")
    relation_tables = ("relation", "relation_projection")

    def make_projections(self) -> None:
        """The vectors of both sides."""
        self.entity_projection = normal_table(self.n_entities, self.dim, self.std)
        self.relation_projection = normal_table(self.n_relation_rows, self.relation_dim, self.std)

    def move(self, entities: Tensor | None, relations: Tensor) -> Tensor:
        """`(n, relation_dim)`."""
        x, x_p = self.lookup(self.entity, entities), self.lookup(self.entity_projection, entities)
        weight = (x_p * x).sum(1, keepdim=True)
        plain = torch.nn.functional.pad(x, (0, self.relation_dim - self.dim))  # Negative: cut.
        return plain + weight * self.lookup(self.relation_projection, relations)


def _lengths(vectors: Tensor, norm: int) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(vectors, norm, dim=1, keepdim=True)
    return lengths
