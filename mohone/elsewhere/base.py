"""A model as the files of another tool hold it, and the way of its rows into a model of ours and back."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mohone.core.errors import DataError
from mohone.core.named_vectors import rows_by_name
from mohone.core.words import counted
from mohone.data import KnowledgeGraph
from mohone.kge import KGEModel

log = logging.getLogger(__name__)


class Tables(NamedTuple):
    """The tables of a model of ours by name, with the rows of some files.

    Attributes:
        entity: each `(n_entities, ...)`.
        relation: each `(n_relations, ...)`; of a reciprocal model those of all inverses below.
    """

    entity: dict[str, Tensor]
    relation: dict[str, Tensor]


class Source(ABC):
    """A model, or entity vectors alone, in files of another tool.

    Attributes:
        path: of the file or folder, for messages.
        entities: their names, in the order of the rows.
        relations: theirs.
        kge_model: which of our models it is; None: the files do not say.
        unknown: why it is no model of ours, in words, so that its entity vectors alone can be infused; None:
            it is one.
    """

    path: Path
    entities: Sequence[str]
    relations: Sequence[str]
    kge_model: str | None
    unknown: str | None

    @property
    def path_of_relations(self) -> Path:
        """The file or folder that relations are in, for messages."""
        return self.path

    @abstractmethod
    def settings(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """What the files say of the keys of `kge_model`.

        Args:
            node: the group as it is configured.

        Raises:
            DataError: they cannot be of this model.
        """

    @abstractmethod
    def tables(self, model: KGEModel) -> Tables:
        """All tables of a model of ours, with the rows of `entities` and of `relations`.

        Args:
            model: says which tables of which width.

        Raises:
            DataError: the files hold another model.
        """

    @abstractmethod
    def vectors(self) -> list[Tensor]:
        """The entity vectors, each table of them: `(n_entities, width)`."""

    @abstractmethod
    def write(self, out: Path, tables: Tables) -> None:
        """Write the model in the form that it came in, with other numbers.

        Args:
            out: a file or folder that is not there.
            tables: as `tables` gave them.
        """

    @abstractmethod
    def write_vectors(self, out: Path, vectors: Sequence[Tensor]) -> None:
        """Write other entity vectors in the form that they came in.

        Args:
            out: a file or folder that is not there.
            vectors: as `vectors` gave them.
        """


def put(source: Source, model: KGEModel, kg: KnowledgeGraph) -> None:
    """Fill a model of the data set, each row found by its name.

    What only valid or test has, and the files have no row for, gets the mean of all rows.

    Raises:
        DataError: another model, or no row for what train has.
    """
    for kind in _kinds(source, source.tables(model), model, kg):
        if n := int((kind.rows < 0).sum()):
            log.info(
                "%s: no row for %d names that train lacks, too: they get the mean of all rows", source.path, n
            )
        for name, table in kind.tables.items():
            if not torch.isfinite(table).all():
                raise DataError(f"{source.path} must have finite numbers, but its table `{name}` has others.")
            filled = torch.cat([_picked(side, kind.rows) for side in table.float().split(kind.n_given)])
            parameter = kind.parameters[name]
            if filled.numel() != parameter.numel():
                numbers = counted(parameter[0].numel(), "number")
                raise DataError(
                    f"{source.path} must have {numbers} a row in the table `{name}` of this model, but has "
                    f"{filled[0].numel()}."
                )
            parameter.data.copy_(filled.view_as(parameter))


def taken_back(source: Source, model: KGEModel, kg: KnowledgeGraph) -> Tables:
    """The tables of the files with the rows that a model has now; rows of no name of the data set stay.

    Args:
        source: where the rows came from.
        model: filled by `put`, and moved.
    """
    tables = source.tables(model)
    for kind in _kinds(source, tables, model, kg):
        there = kind.rows >= 0
        for name, table in kind.tables.items():
            ours = kind.parameters[name].detach().cpu().split(len(there))
            for old, new in zip(table.split(kind.n_given), ours, strict=True):  # Views of the table.
                old[kind.rows[there]] = new[there].reshape(-1, *old.shape[1:]).to(old.dtype)
    return tables


class _Kind(NamedTuple):
    """Entities or relations: their tables, our parameters, each one's row, and how many rows are given."""

    tables: dict[str, Tensor]
    parameters: dict[str, nn.Parameter]
    rows: Tensor
    n_given: int


def _kinds(source: Source, tables: Tables, model: KGEModel, kg: KnowledgeGraph) -> tuple[_Kind, _Kind]:
    seen = [i not in kg.unseen_relations for i in range(kg.n_relations)]
    relation = _rows(source, "relation", kg.relations.names, seen)
    return (
        _Kind(tables.entity, model.entity_parameters(), rows_of_entities(source, kg), len(source.entities)),
        _Kind(tables.relation, model.relation_parameters(), relation, len(source.relations)),
    )


def rows_of_entities(source: Source, kg: KnowledgeGraph) -> Tensor:
    """The row of each entity of the data set in the files; -1: none, and train lacks it: `(n_entities,)`."""
    return _rows(source, "entity", kg.entities.names, kg.seen_entities.tolist())


def _rows(source: Source, kind: str, names: Sequence[str], needed: Sequence[bool]) -> Tensor:
    """The row of each name in the files; -1: they have none, and it is not needed."""
    is_entity = kind == "entity"
    path, given = (
        (source.path, source.entities) if is_entity else (source.path_of_relations, source.relations)
    )
    return rows_by_name(path, given, names, kind, needed)


def _picked(table: Tensor, rows: Tensor) -> Tensor:
    """The rows, and the mean of all in place of -1."""
    out = table[rows]
    out[rows < 0] = table.mean(0)
    return out
