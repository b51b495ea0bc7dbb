"""What a value of a configuration can be at all: what results and stages can keep, and be read back as."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from mohone.core.errors import ConfigError


def check_plain(config: Mapping[str, Any]) -> None:
    """Refuse values that no file of results can hold.

    Raises:
        ConfigError: a value of another type than JSON's, or a text with a sign that is none.
    """
    for key, value in _values(config, ""):
        if isinstance(value, str) and not _is_text(value):
            raise ConfigError(f"`{key}` must be of signs that a file can hold, but is {value!a}.")
        if not isinstance(value, str | int | float | None):
            raise ConfigError(f"`{key}` must be a text, a number, true, false or null, but is {value!r}.")


def check_finite(config: Mapping[str, Any]) -> None:
    """Refuse numbers that are none; whoever can say more of a value should have done so before.

    Raises:
        ConfigError: NaN or infinity.
    """
    for key, value in _values(config, ""):
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"`{key}` must be a finite number, but is {value:g}.")


def _values(node: Any, key: str) -> Iterator[tuple[str, Any]]:
    """All values by their keys."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            if not isinstance(name, str) or not _is_text(name):
                raise ConfigError(f"`{key}` must have names as keys, but has {name!a}.")
            yield from _values(value, f"{key}.{name}" if key else name)
    elif isinstance(node, list):
        for value in node:
            yield from _values(value, key)
    else:
        yield key, node


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
