"""Entity vectors that a user brings along: matched by name, put into a model before it is trained."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from mohone.core.config import Plain
from mohone.core.errors import DataError, require_bool
from mohone.core.files import check_file
from mohone.core.named_vectors import check_format, read_vectors, rows_by_name
from mohone.core.words import counted
from mohone.kge import KGEModel

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pretrained:
    """The group `pretrained` of a configuration.

    Attributes:
        path: a file of vectors and their names; None: there is none.
        frozen: do they stay as they are while the rest is trained?
        digest: sha256 of a file that is not there any more, of a job that has ended.
    """

    path: Path | None = None
    frozen: bool = True
    digest: str | None = None

    @classmethod
    def from_config(cls, node: Plain) -> Pretrained:
        """Check the group.

        Raises:
            ConfigError, DataError: a value that cannot be, a file that is not there.
        """
        frozen = require_bool("pretrained.frozen", node.get("frozen"))
        path = Path(str(node["file"])) if node.get("file") is not None else None
        check_file("pretrained.file", path)
        if path is not None:
            check_format(path)
        return cls(path, frozen)

    @cached_property
    def config(self) -> Plain:
        """What a stage depends on, by content: empty without a file."""
        if self.path is None:
            return {}
        digest = self.digest or hashlib.sha256(self.path.read_bytes()).hexdigest()
        return {"pretrained": {"sha256": digest, "frozen": self.frozen}}

    def read(self, names: Sequence[str]) -> Tensor | None:
        """The vectors of all entities, in the order of their ids; None: there is no file.

        Args:
            names: of all entities, in that order.

        Raises:
            DataError: a file that cannot be read, an entity that it lacks.
        """
        return None if self.path is None else _rows_of(self.path, names)

    def put(self, vectors: Tensor, model: KGEModel) -> None:
        """Write vectors into the model's first entity table, and freeze it if they are to stay.

        Args:
            vectors: a row for each entity.
            model: of these entities.

        Raises:
            DataError: vectors of another width.
        """
        table = model.entity_table
        width = table[0].numel()
        if vectors.shape[1] != width:
            raise DataError(
                f"{self.path} must have vectors of {counted(width, 'number')} for this model, but has them "
                f"of {vectors.shape[1]}."
            )
        table.data.copy_(vectors.view_as(table))
        table.requires_grad_(not self.frozen)


def _rows_of(path: Path, names: Sequence[str]) -> Tensor:
    """The vectors of these names in a file, in their order: `(len(names), width)`."""
    given, vectors = read_vectors(path)
    rows = rows_by_name(path, given, names)
    if extra := len(given) - len(rows):
        names_are = counted(extra, "name is no entity", "names are no entities")
        log.warning("%s: %s of the data set, passed over", path, names_are)
    if not torch.isfinite(vectors).all():
        bad = given[int((~torch.isfinite(vectors)).any(1).nonzero()[0])]
        raise DataError(f"{path} must have finite numbers, but the vector of {bad!r} has others.")
    return vectors[rows]
