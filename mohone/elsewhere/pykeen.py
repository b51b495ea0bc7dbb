"""A folder that PyKEEN's `save_to_directory` wrote: its model's tables, read without PyKEEN or pickle."""

from __future__ import annotations

import csv
import gzip
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from mohone.core.errors import DataError, first_line
from mohone.core.files import making
from mohone.core.torch_file import Inert, TorchFile, entries, read_torch_file
from mohone.elsewhere.base import Source, Tables
from mohone.elsewhere.conventions import CONVENTIONS, Convention, beside, in_turns
from mohone.kge import KGEModel

MODEL = "trained_model.pkl"
_MAPS = "training_triples"
_SHORT = 1.0  # The length to which we shorten projected entities.


@dataclass(frozen=True)
class _Table:
    """An `Embedding` of PyKEEN's.

    Attributes:
        node: of its parameter in the file.
        shape: of a row; a complex one ends in pairs.
    """

    node: Any
    shape: tuple[int, ...]


class PyKEENFolder(Source):
    """A model of PyKEEN's with the maps of its names.

    Raises:
        DataError: no such folder, or a file of it that is missing, damaged or of another kind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: TorchFile = read_torch_file(path / MODEL)
        parts = _parts(self.file.content)
        if "interaction" not in parts or "entity_representations" not in parts:
            raise DataError(f"{path / MODEL} must hold a model of PyKEEN's, but holds something else.")
        self.entities = _names(path / _MAPS / "entity_to_id.tsv.gz")
        self.relations = _names(path / _MAPS / "relation_to_id.tsv.gz")
        self.interaction: Inert = parts["interaction"]
        self.reciprocal = self.file.content.state.get("use_inverse_triples") is True
        self._entity = [self._table(each) for each in _listed(parts["entity_representations"])]
        self._relation = [self._table(each) for each in _listed(parts.get("relation_representations"))]
        self.unknown = self._why_unknown()
        self.kge_model = None if self.unknown else self._known.kge_model

    @property
    def _name(self) -> str:
        return self.interaction.name.rpartition(".")[2]

    def _why_unknown(self) -> str | None:
        """Why it is no model of ours, or None."""
        state = self.interaction.state
        if self._name not in CONVENTIONS:
            return f"no model here scores as PyKEEN's {self._name}"
        if state.get("p", 2) not in (1, 2):
            return f"no model here has the norm {state['p']}"
        if state.get("max_projection_norm", _SHORT) != _SHORT:
            return f"no model here shortens what it projected to {state['max_projection_norm']}"
        convention = CONVENTIONS[self._name]
        if (len(self._entity), len(self._relation)) != (len(convention.entity), len(convention.relation)):
            return f"this {self._name} has more tables than PyKEEN's own models"
        return None

    def settings(self, node: Any) -> dict[str, Any]:  # noqa: ARG002
        """All that its scores depend on."""
        shapes = [each.shape for each in self._entity], [each.shape for each in self._relation]
        return {**self._known.settings(self.interaction.state, shapes), "reciprocal": self.reciprocal}

    def tables(self, model: KGEModel) -> Tables:  # noqa: ARG002
        """As the convention of its interaction has them."""

        def read(names: Sequence[str], tables: Sequence[_Table], n: int) -> dict[str, Tensor]:
            both = zip(names, tables, strict=True)
            return {name: convention.ours(self._numbers(table, n)) for name, table in both}

        convention, n = self._known, len(self.relations)
        entity = read(convention.entity, self._entity, len(self.entities))
        relation = read(convention.relation, self._relation, 2 * n if self.reciprocal else n)
        if self.reciprocal:
            relation = {name: beside(rows) for name, rows in relation.items()}
        return Tables(entity, relation)

    def vectors(self) -> list[Tensor]:
        """As they lie in the file."""
        return [self._numbers(each, len(self.entities)).flatten(1) for each in self._entity]

    def write(self, out: Path, tables: Tables) -> None:
        """A copy of the folder, with other numbers in the file of the model."""
        convention, numbers = self._known, {}
        for name, table in zip(convention.entity, self._entity, strict=True):
            numbers[table.node] = convention.theirs(tables.entity[name], table.shape)
        for name, table in zip(convention.relation, self._relation, strict=True):
            rows = tables.relation[name]
            numbers[table.node] = convention.theirs(in_turns(rows) if self.reciprocal else rows, table.shape)
        self._copy(out, numbers)

    def write_vectors(self, out: Path, vectors: Sequence[Tensor]) -> None:
        """A copy of the folder, with other entity vectors."""
        self._copy(out, {each.node: table for each, table in zip(self._entity, vectors, strict=True)})

    def _copy(self, out: Path, numbers: dict[Any, Tensor]) -> None:
        with making(out) as part:
            shutil.copytree(self.path, part, dirs_exist_ok=True)
            self.file.copy(part / MODEL, numbers)

    @property
    def _known(self) -> Convention:
        assert self.unknown is None
        return CONVENTIONS[self._name]

    def _numbers(self, table: _Table, n: int) -> Tensor:
        """All rows of a table: `(n, *shape)`."""
        numbers = self.file.tensor(table.node)
        if numbers.numel() != n * math.prod(table.shape):
            raise DataError(
                f"{self.path / MODEL} must have {n} rows of shape {table.shape}, one for each name, but "
                f"has a table of shape {tuple(numbers.shape)}."
            )
        return numbers.view(n, *table.shape)

    def _table(self, node: Any) -> _Table:
        state = node.state if isinstance(node, Inert) else {}
        weight = entries(state.get("_modules")).get("_embeddings")
        shape = state.get("shape")
        if not isinstance(weight, Inert) or not isinstance(shape, tuple) or not _are_sizes(shape):
            raise DataError(f"{self.path / MODEL} must keep its vectors in `Embedding`s, but has others.")
        if state.get("normalizer") is not None:
            raise DataError(f"{self.path / MODEL} must use its vectors as they are, but normalises them.")
        pairs = (2,) if state.get("is_complex") else ()
        return _Table(entries(weight.state.get("_parameters")).get("weight"), (*shape, *pairs))


def _are_sizes(shape: tuple[Any, ...]) -> bool:
    return bool(shape) and all(type(size) is int and size > 0 for size in shape)


def _parts(node: Any) -> dict[Any, Any]:
    """The modules of a module."""
    return entries(node.state.get("_modules")) if isinstance(node, Inert) else {}


def _listed(node: Any) -> list[Any]:
    """Those of a `ModuleList`, in order."""
    return list(_parts(node).values())


def _names(path: Path) -> list[str]:
    """The names of a map, in the order of their ids: PyKEEN's lines `id<TAB>label`, as pandas quotes them."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        names = {int(row["id"]): row["label"] for row in rows}
        if sorted(names) != list(range(len(rows))) or not all(isinstance(x, str) for x in names.values()):
            raise ValueError("its ids are not 0, 1, 2 and so on")
    except FileNotFoundError:
        raise DataError(f"{path} must be there, with the names of the rows, but is not.") from None
    except Exception as error:
        raise DataError(
            f"{path} must be a map of PyKEEN's, but cannot be read: {first_line(error)}."
        ) from None
    return [names[i] for i in range(len(names))]
