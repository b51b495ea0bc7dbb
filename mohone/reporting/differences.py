"""Two jobs' configurations compared, for a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mohone.core.config import Plain

_MOST = 3
# These change no figure:
_BESIDE = (
    "store_dir",
    "data_dir",
    "dataset.data_dir",
    "dataset.store_dir",
    "logger",
    "progress",
    "allocator",
)


def differences(there: Plain, here: Plain) -> str:
    """What differs between the configurations of two jobs, in words: three keys at most.

    >>> differences({"seed": 0, "training": {"lr": 0.1}}, {"seed": 1, "training": {"lr": 0.1}})
    '`seed` is 0 there, 1 here'
    """
    flat_there, flat_here = dict(_flat(there)), dict(_flat(here))
    keys = [key for key in {**flat_here, **flat_there} if flat_there.get(key) != flat_here.get(key)]
    keys = [key for key in keys if not key.startswith(_BESIDE)]
    if not keys:
        return "of the same settings, but its data or the program have changed"
    keys.sort(key=lambda key: key.count("."))
    told = [f"`{key}` is {flat_there.get(key)!r} there, {flat_here.get(key)!r} here" for key in keys[:_MOST]]
    return "; ".join([*told, *([f"{len(keys) - _MOST} more"] if len(keys) > _MOST else [])])


def _flat(config: Plain, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
