"""Which configuration file Hydra was reading when it raised an error: it does not always say so."""

from __future__ import annotations

import io
import traceback
from collections.abc import Mapping
from typing import Any

import yaml
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from mohone.core.errors import chain, first_line, raised_by

_READERS = ("hydra", "omegaconf", "yaml")


def is_fault(error: BaseException) -> bool:
    """Does it come of what a user's files or words say? Hydra hands on what readers of YAML raise."""
    kinds = (HydraException, OmegaConfBaseException, yaml.YAMLError, UnicodeError, RecursionError)
    return isinstance(error, kinds) or (isinstance(error, Exception) and raised_by(error) in _READERS)


def told_of_file(error: BaseException) -> str:
    """One sentence of an error for which there is no other: of the file, if it was read just then."""
    said = next(filter(None, map(first_line, chain(error))), type(error).__name__)
    said = "it is nested too deeply, or refers to itself" if isinstance(error, RecursionError) else said
    file = next(filter(None, map(_file_of, chain(error))), None)
    if file is None or f"'{file}'" in said:
        return f"The configuration must be one that can be composed, but: {said}."
    kind = "text in UTF-8" if isinstance(error, UnicodeError) else "one that can be composed"
    return f"{file}: the file must be {kind}, but: {said}."


def _file_of(error: BaseException) -> str | None:
    """The file that was open when an error was raised, else the one that was being put to the others."""
    file = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _READERS:
            file = _file_in(frame.f_locals) or file
    return file


def _file_in(names: Mapping[str, Any]) -> str | None:
    """What a function of Hydra's calls a file: one that it has opened, or its name without the ending."""
    opened = [str(each.name) for each in names.values() if isinstance(each, io.TextIOWrapper)]
    path = str(names.get("config_path") or getattr(names.get("default"), "config_path", None) or "/")
    named = [] if path.startswith("/") else [path]  # A whole path is that of the package's folder.
    return next(iter([*opened, *named]), None)
