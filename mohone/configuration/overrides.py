"""Settings as a command line has them: values of Python written so that Hydra reads them back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mohone.core.errors import ConfigError

# A text that wants no quotes: Hydra would take it neither for another value nor for grammar.
_BARE = re.compile(r"(?!(?:null|true|false|nan|inf)$)[a-z_][\w./-]*|/[\w./-]+", re.IGNORECASE | re.ASCII)


def override(key: str, value: Any, always: bool = True) -> str:
    r"""A setting as a command line has it.

    Args:
        key: whole.
        value: of plain types.
        always: are texts in quotes also where they want none, which is for people to read?

    Example:
        >>> override("dataset.path", "it's here"), override("seed", 3), override("netemb.scale", [1.0, None])
        ("dataset.path='it\\'s here'", 'seed=3', 'netemb.scale=[1.0,null]')
    """
    return f"{key}={written(value, always)}"


def written(value: Any, always: bool = True) -> str:
    r"""A value as Hydra reads it; `always` as of `override`.

    Raises:
        ConfigError: one that YAML does not know.

    Example:
        >>> print(written([0, 0.2]), written(None), written("both"), written("it's"), written({"a": "1"}))
        [0,0.2] null 'both' 'it\'s' {a:'1'}
        >>> print(written(["both", "1"], always=False))
        [both,'1']
    """
    if hasattr(value, "tolist"):  # Of NumPy or torch.
        value = value.tolist()
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str | Path):
        return _quoted(str(value), always)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{written(each, always)}" for key, each in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ",".join(written(each, always) for each in value) + "]"
    raise ConfigError(f"A value must be one that YAML knows, but {value!r} is a {type(value).__name__}.")


def _quoted(text: str, always: bool) -> str:
    """A text in quotes: backslashes count only before one."""
    if not always and _BARE.fullmatch(text):
        return text
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), text)
    return f"'{escaped}'"
