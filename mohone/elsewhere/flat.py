"""A model in two files, of entity and relation vectors, each row under its name; or entity vectors alone."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mohone.core.config import build, call
from mohone.core.errors import DataError
from mohone.core.files import making
from mohone.core.named_vectors import read_vectors, write_vectors
from mohone.data import KnowledgeGraph
from mohone.elsewhere.base import Source, Tables
from mohone.kge import KGEModel

log = logging.getLogger(__name__)
INVERSE = "_inverse"  # Behind a relation's name: its row for predicting heads, in reciprocal models.


class FlatFiles(Source):
    """Rows of numbers: those of a model's tables side by side, in its order.

    Raises:
        DataError: a file that cannot be read.
    """

    kge_model = None

    def __init__(self, path: Path, relations: Path | None) -> None:
        self.path, self.file_of_relations = path, relations
        self.entities, self._entity = read_vectors(path)
        self._relation_names, self._relation = (
            read_vectors(relations) if relations else ([], torch.empty(0, 0))
        )
        self.unknown = None if relations else "there are no vectors of relations"
        self.reciprocal = _are_reciprocal(self.path_of_relations, self._relation_names)
        self.relations = [x for x in self._relation_names if not (self.reciprocal and x.endswith(INVERSE))]

    @property
    def path_of_relations(self) -> Path:
        """The second file."""
        return self.file_of_relations or self.path

    def settings(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """How wide the vectors are, and whether relations have inverses."""
        two = call("kge_model", build("kge_model", {**node, "dim": 2}), n_entities=1, n_relations=1)
        dim, rest = divmod(2 * self._entity.shape[1], two.numbers_per_entity)
        if rest or not dim:
            raise DataError(
                f"{self.path} must have {two.numbers_per_entity // 2} numbers for each dimension of the "
                f"model, but has {self._entity.shape[1]} in all."
            )
        return {"dim": dim, "reciprocal": self.reciprocal}

    def tables(self, model: KGEModel) -> Tables:
        """Cut out of the rows."""
        assert self.file_of_relations is not None
        order = self._order()
        entity = _cut(self.path, self._entity, model.entity_parameters())
        relation = _cut(self.file_of_relations, self._relation[order], model.relation_parameters())
        return Tables(entity, relation)

    def vectors(self) -> list[Tensor]:
        """One table."""
        return [self._entity]

    def write(self, out: Path, tables: Tables) -> None:
        """A folder with two files of the names and forms of those that were read."""
        assert self.file_of_relations is not None
        entity, relation = (torch.cat([x.flatten(1) for x in kind.values()], 1) for kind in tables)
        with making(out) as part:
            write_vectors(part / self.path.name, self.entities, entity)
            back = self._order().argsort()
            write_vectors(part / self.file_of_relations.name, self._relation_names, relation[back])

    def write_vectors(self, out: Path, vectors: Sequence[Tensor]) -> None:
        """One file, of the form that its ending says."""
        write_vectors(out, self.entities, vectors[0])

    def _order(self) -> Tensor:
        """The rows of relations, then those of their inverses."""
        places = {name: i for i, name in enumerate(self._relation_names)}
        inverses = [name + INVERSE for name in self.relations] if self.reciprocal else []
        return torch.tensor([places[name] for name in (*self.relations, *inverses)], dtype=torch.int64)


def write_model(model: KGEModel, kg: KnowledgeGraph, entities: Path, relations: Path) -> None:
    """Write a model in two files that `FlatFiles` reads: all its tables side by side.

    Args:
        model: of this data set.
        kg: has the names.
        entities, relations: the files; each has the form that its ending says.
    """

    def rows(tables: Mapping[str, nn.Parameter]) -> Tensor:
        return torch.cat([table.detach().cpu().flatten(1) for table in tables.values()], 1)

    names = kg.relations.names
    inverses = [name + INVERSE for name in names] if model.reciprocal else []
    write_vectors(entities, kg.entities.names, rows(model.entity_parameters()))
    write_vectors(relations, [*names, *inverses], rows(model.relation_parameters()))


def _are_reciprocal(path: Path, names: Sequence[str]) -> bool:
    """Has each relation an inverse? Where some have, they count as relations of their own, which is told."""
    given = set(names)
    plain = {name for name in given if not name.endswith(INVERSE)}
    having = [name for name in sorted(plain) if name + INVERSE in given]
    if having and given != plain | {name + INVERSE for name in plain}:
        log.warning(
            "%s: %d of %d relations have an inverse (%s), which are then relations of their own",
            path,
            len(having),
            len(plain),
            having[0] + INVERSE,
        )
        return False
    return bool(having)


def _cut(path: Path, rows: Tensor, tables: Mapping[str, nn.Parameter]) -> dict[str, Tensor]:
    widths = [table[0].numel() for table in tables.values()]
    if rows.shape[1] != sum(widths):
        each = " and ".join(f"{width} of `{name}`" for name, width in zip(tables, widths, strict=True))
        raise DataError(
            f"{path} must have rows of {sum(widths)} numbers for this model ({each}), but has them of "
            f"{rows.shape[1]}."
        )
    return dict(zip(tables, rows.clone().split(widths, 1), strict=True))
