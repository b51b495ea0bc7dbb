"""Entity vectors that a user brings along: matched by name, put into a model before it is trained."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import torch

from mohone.core.config import Plain
from mohone.core.errors import DataError, require_bool
from mohone.core.named_vectors import read_vectors
from mohone.kge import KGEModel

log = logging.getLogger(__name__)


class Pretrained:
    """The group `pretrained` of a configuration, with its file read and checked.

    Args:
        node: `file`, of vectors and their names, or None; `frozen`: do they stay as they are?
        names: of all entities, in the order of their ids.

    Raises:
        DataError: a file that cannot be read, or an entity that it lacks.
    """

    def __init__(self, node: Plain, names: Sequence[str]) -> None:
        self.frozen = require_bool("pretrained.frozen", node["frozen"])
        self.path = Path(node["file"]) if node["file"] is not None else None
        if self.path is None:
            return
        if not self.path.is_file():
            raise DataError(f"`pretrained.file` must be a file, but {self.path} is none.")
        given, vectors = read_vectors(self.path)
        places = {name: i for i, name in enumerate(given)}
        if len(places) < len(given):
            twice = next(name for i, name in enumerate(given) if places[name] != i)
            raise DataError(f"{self.path} must have one vector for each name, but has several for {twice!r}.")
        missing = [name for name in names if name not in places]
        if missing:
            others = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
            raise DataError(
                f"{self.path} must have a vector for each entity, but has none for {missing[0]!r}{others}."
            )
        if extra := len(places.keys() - set(names)):
            log.warning("%s: %d names are no entities of the data set, and are passed over", self.path, extra)
        if not torch.isfinite(vectors).all():
            bad = given[int((~torch.isfinite(vectors)).any(1).nonzero()[0])]
            raise DataError(f"{self.path} must have finite numbers, but the vector of {bad!r} has others.")
        self.vectors = vectors[torch.tensor([places[name] for name in names])]

    @property
    def config(self) -> Plain:
        """What a stage depends on, by content: empty without a file."""
        if self.path is None:
            return {}
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        return {"pretrained": {"sha256": digest, "frozen": self.frozen}}

    def put(self, model: KGEModel) -> None:
        """Write the vectors into the model's first entity table, and freeze it if they are to stay.

        Raises:
            DataError: vectors of another width.
        """
        if self.path is None:
            return
        table = model.entity_table
        width = table[0].numel()
        if self.vectors.shape[1] != width:
            raise DataError(
                f"{self.path} must have vectors of {width} numbers for this model, but has them of "
                f"{self.vectors.shape[1]}."
            )
        table.data.copy_(self.vectors.view_as(table))
        table.requires_grad_(not self.frozen)
