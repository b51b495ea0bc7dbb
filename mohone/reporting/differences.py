"""Two jobs' configurations compared, for a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mohone.core.config import CHOICES, Plain

_MOST = 3
# Where things lie and what is shown changes no figure:
BESIDE = (
    "store_dir",
    "data_dir",
    "dataset.data_dir",
    "dataset.store_dir",
    "logger",
    "progress",
    "allocator",
    "check_memory",
)


def differences(there: Plain, here: Plain, changed: Sequence[str] = ()) -> str:
    """What differs between the configurations of two jobs, in words: three keys at most, as they are typed.

    Args:
        there: of the one.
        here: of the other.
        changed: the splits whose data differ.

    >>> differences({"seed": 0, "training": {"lr": 0.1}}, {"seed": 1, "training": {"lr": 0.1}})
    '`seed` is 0 there, 1 here'
    >>> differences({"seed": 0}, {"seed": 0}, ["valid", "test"])
    'of the same settings, but valid and test have changed'
    """
    flat_there, flat_here = dict(_flat(there)), dict(_flat(here))
    keys = [key for key in {**flat_here, **flat_there} if flat_there.get(key) != flat_here.get(key)]
    keys = [key for key in keys if not key.startswith(BESIDE)]
    if not keys:
        return f"of the same settings, but {_data(changed) or 'its data or the program have changed'}"
    keys.sort(key=lambda key: key.count("."))
    told = [f"`{key}` is {flat_there.get(key)!r} there, {flat_here.get(key)!r} here" for key in keys[:_MOST]]
    more = [f"{len(keys) - _MOST} more"] if len(keys) > _MOST else []
    return "; ".join([*told, *more, *([_data(changed)] if changed else [])])


def _data(changed: Sequence[str]) -> str:
    """That splits have changed, if any have."""
    *first, last = changed or [""]
    return f"{', '.join(first)} and {last} have changed" if first else last and f"{last} has changed"


def _flat(config: Plain, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if key == CHOICES and not prefix and isinstance(value, dict):
            yield from value.items()  # `kge_model=complex`
        elif isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
