"""A whole model that a user brings along, trained by another tool: it is the baseline; none is trained."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from mohone.core.config import CHOICES, Plain
from mohone.core.errors import ConfigError, DataError
from mohone.core.files import check_there
from mohone.data import KnowledgeGraph
from mohone.elsewhere import Source, open_source, put
from mohone.kge import KGEModel


@dataclass(frozen=True)
class Given:
    """The group `given` of a configuration.

    Attributes:
        model: a folder that PyKEEN wrote, or a file of entity vectors; None: there is none.
        relations: a file of relation vectors, beside such a file.
    """

    model: Path | None = None
    relations: Path | None = None

    @classmethod
    def from_config(cls, node: Plain) -> Given:
        """Check the group.

        Raises:
            ConfigError, DataError: a value that cannot be, a file that is not there.
        """
        model, relations = (
            None if node.get(key) is None else Path(str(node[key])) for key in ("model", "relations")
        )
        if model is None and relations is not None:
            raise ConfigError("`given.model` must be set beside `given.relations`, but is null.")
        for key, path in (("model", model), ("relations", relations)):
            check_there(path, f"what `given.{key}` names")
        return cls(model, relations)

    @cached_property
    def source(self) -> Source | None:
        """The files, opened; None: there are none."""
        return None if self.model is None else open_source(self.model, self.relations)

    def check(self, config: Mapping[str, Any]) -> None:
        """Is the configured model the one that the files hold?

        Raises:
            DataError: no model at all, or one of other settings.
        """
        if self.source is None:
            return
        if self.source.unknown is not None:
            raise DataError(f"{self.source.path} must hold a model to be infused, but {self.source.unknown}.")
        node, choice = config["kge_model"], config.get(CHOICES, {}).get("kge_model")
        if self.source.kge_model not in (None, choice):
            raise ConfigError(
                f"`kge_model` must be {self.source.kge_model} for {self.source.path}, but is {choice}."
            )
        for key, value in self.source.settings(node).items():
            if node.get(key) != value:
                raise ConfigError(
                    f"`kge_model.{key}` must be {value} for {self.source.path}, but is {node.get(key)}."
                )

    def put(self, model: KGEModel, kg: KnowledgeGraph) -> None:
        """Fill a model of the data set with what the files hold."""
        if self.source is not None:
            put(self.source, model, kg)


def digest(model: KGEModel) -> str:
    """sha256 of all tables: what a stage depends on, in whatever files they were."""
    content = hashlib.sha256()
    for name, table in sorted(model.state_dict().items()):
        content.update(f"{name} {tuple(table.shape)} ".encode())
        content.update(table.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return content.hexdigest()
