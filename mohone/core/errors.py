"""What a user can do wrong, as exceptions with one sentence: what must be, and what is."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Iterator, Sequence
from numbers import Integral
from types import FrameType
from typing import Any

# Ends of line, which names and paths in a sentence may have, as Python writes them.
_ENDS = {ord(end): repr(end)[1:-1] for end in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"}

# Packages whose code is not a user's own; what they say of a user's values needs no place.
_LIBRARIES = (
    *("mohone", "hydra", "omegaconf", "yaml", "torch", "pytorch_lightning", "lightning_fabric"),
    *("torchmetrics", "numpy", "scipy", "numba"),
)
_GREATEST = 1e30  # Of a number that is computed with.
LAST_SEED = 2**32 - 1  # Lightning's.
MOST = 2**31 - 1  # Of a number of things that torch counts.
NO_DATA = "`dataset.path` must be a folder with train, valid and test files, but none is given."
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


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


class GivenUpError(MohoneError):
    """A training that was given up, since it had not reached by then what it must have.

    Args:
        epoch: after which, counted from 1.
        valid_mrr: its best on validation.
        least: what that must have been.
    """

    def __init__(self, epoch: int, valid_mrr: float, least: float) -> None:
        super().__init__(
            f"The validation MRR must be {least:.4f} after epoch {epoch} (`evaluation.must_reach`), but is "
            f"{valid_mrr:.4f}: the training is given up."
        )
        self.epoch, self.valid_mrr = epoch, valid_mrr


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
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ConfigError(f"`{name}` must be an integer >= {minimum}, but is {value!r}.")
    if maximum is not None and int(value) > maximum:
        raise ConfigError(f"`{name}` must be an integer <= {maximum}, but is {value!r}.")
    return int(value)


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
    if abs(value) >= _GREATEST:  # Products of some would not be finite.
        raise ConfigError(f"`{name}` must be below {_GREATEST:g}, but is not.")
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


def require_kind(name: str, value: object, kind: type) -> None:
    """Refuse what is no object of a class.

    Raises:
        ConfigError: if it is none.

    Example:
        >>> require_kind("training.fit", 3, dict)
        Traceback (most recent call last):
        mohone.core.errors.ConfigError: `training.fit` must make a dict, but makes a int.
    """
    if not isinstance(value, kind):
        raise ConfigError(f"`{name}` must make a {kind.__name__}, but makes a {type(value).__name__}.")


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
    r"""What an error says first, without the full stop; a line that ends with a colon has the next with it.

    Example:
        >>> first_line(ValueError("It broke.\nA long story."))
        'It broke'
        >>> first_line(ValueError("It broke:\nno wheel.\nA long story."))
        'It broke: no wheel'
    """
    first, *others = str(error).strip().splitlines() or [""]
    if first.endswith(":") and others:
        first = f"{first} {others[0].strip()}"
    return first.rstrip(".:")


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def blamed(error: BaseException) -> str:
    """What an error says first; of one that other code than ours raised, also its type and where that was.

    Args:
        error: of making an object, of whatever class.
    """
    for each in chain(error):
        if isinstance(each, SyntaxError):  # Of a module that could not be read: it has no frame.
            return f"{type(each).__name__} in {each.filename}:{each.lineno}: {each.msg}"
        if place := _place(each):
            said = first_line(each)
            return f"{type(each).__name__} in {place}" + (f": {said}" if said else "")
    return first_line(error)


def raised_by(error: BaseException) -> str | None:
    """The package whose code raised an error, Python's own apart."""
    packages = [_package(frame) for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((each for each in reversed(packages) if each not in sys.stdlib_module_names), None)


def _place(error: BaseException) -> str | None:
    """The innermost line of code that is none of a library's; None: there is none."""
    place = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _package(frame) not in (*_LIBRARIES, *sys.stdlib_module_names):
            place = f"{frame.f_code.co_filename}:{line}"
    return place


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def not_installed(package: str, extra: str, purpose: str) -> ConfigError:
    """That what an extra of this package installs is wanted, and missing.

    Example:
        >>> print(not_installed("wandb", "wandb", "for logger=wandb"))
        `wandb` must be installed (extra `wandb`) for logger=wandb, but is not.
    """
    return ConfigError(f"`{package}` must be installed (extra `{extra}`) {purpose}, but is not.")


def told_by_system(error: OSError) -> str | None:
    """A sentence of what the system said of a file, or of a disk that is full; None: of neither.

    Example:
        >>> told_by_system(IsADirectoryError(21, "Is a directory", "a.txt"))
        'a.txt must be what can be read or written here, but: Is a directory.'
        >>> told_by_system(OSError(28, "No space left on device", "a.txt"))
        'There must be room on the disk of a.txt, but it is full.'
    """
    path = error.filename2 or error.filename
    if error.errno in NO_SPACE:
        return f"There must be room on the disk of {path or 'what is written'}, but it is full."
    if not isinstance(path, str):
        return None
    return f"{path} must be what can be read or written here, but: {error.strerror}."


def without_memory(error: Exception) -> str | None:
    """A sentence of an error that says that there was not enough memory; None: it is another.

    Example:
        >>> without_memory(MemoryError("Unable to allocate 8 TiB."))
        'There must be memory for all that the job holds, but: Unable to allocate 8 TiB.'
    """
    signs = ("can't allocate memory", "out of memory", "not enough memory")
    if not isinstance(error, MemoryError) and not any(sign in str(error) for sign in signs):
        return None
    reason = first_line(error) or "there is not enough"
    return f"There must be memory for all that the job holds, but: {reason}."
