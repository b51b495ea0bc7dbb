"""What a user can do wrong, as exceptions with one sentence: what must be, and what is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Ends of line, which names and paths in a sentence may have, as Python writes them.
_ENDS = {ord(end): repr(end)[1:-1] for end in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"}


class MohoneError(ValueError):
    """A fault the user can mend; shown as one sentence on one line, without a traceback."""

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence.translate(_ENDS))


class ConfigError(MohoneError):
    """A configuration value that cannot be."""


class DataError(MohoneError):
    """A file that cannot be read as asked, with its name and line."""


class TrainingError(MohoneError):
    """A training that broke down: a loss or score that is not finite."""


class OccupiedError(MohoneError):
    """A job's folder that holds the result of another job."""


def require_int(name: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """Return `value` if it is an integer in `[minimum, maximum]`.

    Raises:
        ConfigError: if it is not.

    Example:
        >>> require_int("dim", 3, minimum=1)
        3
        >>> require_int("dim", 0, minimum=1)
        Traceback (most recent call last):
        mohone.core.errors.ConfigError: `dim` must be an integer >= 1, but is 0.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ConfigError(f"`{name}` must be an integer >= {minimum}, but is {value!r}.")
    if maximum is not None and value > maximum:
        raise ConfigError(f"`{name}` must be an integer <= {maximum}, but is {value!r}.")
    return value


def require_bool(name: str, value: object) -> bool:
    """Return `value` if it is true or false.

    Raises:
        ConfigError: if it is not.

    Example:
        >>> require_bool("progress", "no")
        Traceback (most recent call last):
        mohone.core.errors.ConfigError: `progress` must be true or false, but is 'no'.
    """
    if not isinstance(value, bool):
        raise ConfigError(f"`{name}` must be true or false, but is {value!r}.")
    return value


def require_float(
    name: str,
    value: object,
    minimum: float = 0.0,
    below: float = float("inf"),
    strict: bool = False,
) -> float:
    """Return `value` as a float if it lies in `[minimum, below)` (`strict`: above `minimum`).

    Raises:
        ConfigError: if it does not, or is no number.

    Example:
        >>> require_float("training.dropout", 0, below=1)
        0.0
        >>> require_float("training.dropout", 1, below=1)
        Traceback (most recent call last):
        mohone.core.errors.ConfigError: `training.dropout` must be >= 0 and < 1, but is 1.
    """
    bounds = f"{'>' if strict else '>='} {minimum:g}"
    if below != float("inf"):
        bounds += f" and < {below:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"`{name}` must be a number {bounds}, but is {value!r}.")
    low = value > minimum if strict else value >= minimum
    if not (low and value < below):
        raise ConfigError(f"`{name}` must be {bounds}, but is {value:g}.")
    return float(value)


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`.

    Raises:
        ConfigError: if it is not.

    Example:
        >>> require_choice("sparse", "scipy", ("torch", "torch_sparse"))
        Traceback (most recent call last):
        mohone.core.errors.ConfigError: `sparse` must be one of torch, torch_sparse, but is 'scipy'.
    """
    if value not in choices:
        raise ConfigError(f"`{name}` must be one of {', '.join(choices)}, but is {value!r}.")
    return str(value)


def require_some(name: str, value: object) -> tuple[Any, ...]:
    """Return the values of a list of any kind, or the one value that is no list.

    Raises:
        ConfigError: if the list is empty.

    Example:
        >>> require_some("netemb.scale", [1.0, 5.0]), require_some("netemb.scale", 5.0)
        ((1.0, 5.0), (5.0,))
    """
    values = (value,) if isinstance(value, str) or not isinstance(value, Sequence) else tuple(value)
    if not values:
        raise ConfigError(f"`{name}` must have a value, but is empty.")
    return values


def first_line(error: BaseException) -> str:
    r"""What an error says first, without the full stop.

    Example:
        >>> first_line(ValueError("It broke.\nA long story."))
        'It broke'
    """
    return (str(error).strip().splitlines() or [""])[0].rstrip(".")
