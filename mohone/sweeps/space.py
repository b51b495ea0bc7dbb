"""What a search looks for, and where: keys with several values in Hydra's words for sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, IntervalSweep, Override, RangeSweep

from mohone.core.errors import ConfigError
from mohone.reporting.shape import is_number

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

_SEARCHED = ("kge_model.", "training.", "dim")
SET_BY_SEARCH = "evaluation.must_reach"


@dataclass(frozen=True)
class Space:
    """What the trials of a search have.

    Attributes:
        fixed: the overrides of all of them.
        usual: what is searched unless it is typed, by key; it reaches to the values of the first job.
        typed: what was typed, which holds for the first job, too.
    """

    fixed: list[str]
    usual: Mapping[str, Override]
    typed: Mapping[str, Override]

    def distributions(self, start: Mapping[str, Any]) -> dict[str, BaseDistribution]:
        """What Optuna draws, by key.

        Args:
            start: the values of the first job.

        Raises:
            ConfigError: what cannot be searched.
        """
        usual = {key: distribution(each, start[key], widened=True) for key, each in self.usual.items()}
        return usual | {key: distribution(each, start[key]) for key, each in self.typed.items()}

    @property
    def names(self) -> list[str]:
        """The keys of all that is searched."""
        return [*self.usual, *self.typed]


def space_of(typed: list[str], usual: Mapping[str, str]) -> Space:
    """What every trial has, and what is searched: a key that was typed goes before the usual ones.

    Args:
        typed: overrides of a command line.
        usual: by key, a sweep in Hydra's words.

    Raises:
        ConfigError: several values for what is no setting of a model or a training.

    Example:
        >>> space = space_of(["training.a=1"], {"training.a": "choice(1,2)", "training.b": "choice(3,4)"})
        >>> space.fixed, space.names
        (['training.a=1'], ['training.b'])
    """
    parser = OverridesParser.create()
    given = parser.parse_overrides(typed)
    keys = {each.get_key_element() for each in given}
    if SET_BY_SEARCH in keys:
        raise ConfigError(f"`{SET_BY_SEARCH}` must be left out of a search, which sets it, but is given.")
    more = parser.parse_overrides([f"{key}={text}" for key, text in usual.items() if key not in keys])
    fixed = [str(each.input_line) for each in given if not each.is_sweep_override()]
    own, others = (
        {each.get_key_element(): each for each in some if each.is_sweep_override()} for some in (given, more)
    )
    space = Space(fixed, others, own)
    for each in space.typed.values():
        _check_sweep(each)
    if not space.names:
        raise ConfigError("A search must have keys with several values (training.lr='interval(0.1,1)').")
    return space


def _check_sweep(override: Override) -> None:
    key, sweep = override.get_key_element(), override.value()
    if not key.startswith(_SEARCHED):
        raise ConfigError(f"`{key}` must have one value in a search, which is of one model and data set.")
    if not isinstance(sweep, IntervalSweep):
        return
    low, high = ends_of(sweep)
    if not low < high:
        raise ConfigError(
            f"`{key}` must have an interval from a lower to a higher number, but has interval({low},{high})."
        )
    if "log" in sweep.tags and low <= 0:
        raise ConfigError(f"`{key}` must be above 0 to be searched by its logarithm, but may be {low:g}.")


def ends_of(sweep: IntervalSweep) -> tuple[float, float]:
    """The lowest and the highest number of an interval."""
    assert sweep.start is not None
    assert sweep.end is not None
    return sweep.start, sweep.end


def extremes(override: Override) -> list[Any]:
    """The values by which a key's sweep is tried before any job: all of its choices, or its ends.

    Ends that are whole numbers are tried as such, which a key that takes other numbers takes, too.
    """
    sweep = override.value()
    if isinstance(sweep, IntervalSweep):
        return [int(end) if end == int(end) else end for end in ends_of(sweep)]
    return _choices(sweep)


def nearest_to(override: Override, value: Any) -> Any:
    """The value of a key's sweep that is the nearest to another; that itself where it is one.

    Example:
        >>> lr, batch = OverridesParser.create().parse_overrides(["a=interval(0.4,0.5)", "b=choice(2,4)"])
        >>> nearest_to(lr, 0.1), nearest_to(lr, 0.45), nearest_to(batch, 1), nearest_to(batch, None)
        (0.4, 0.45, 2, 2)
    """
    sweep = override.value()
    if isinstance(sweep, IntervalSweep):
        low, high = ends_of(sweep)
        near = min(max(value, low), high) if is_number(value) else low
        return int(near) if _counts(sweep, value) else near
    choices = _choices(sweep)
    if value in choices or not is_number(value):
        return value if value in choices else choices[0]
    numbers = [each for each in choices if isinstance(each, int | float)]
    return min(numbers, key=lambda each: abs(each - value)) if numbers else choices[0]


def _choices(sweep: Any) -> list[Any]:
    assert isinstance(sweep, ChoiceSweep | RangeSweep)
    values = sweep.list if isinstance(sweep, ChoiceSweep) else sweep.range()
    return [value for value in values if isinstance(value, bool | int | float | str)]


def _counts(sweep: IntervalSweep, value: Any) -> bool:
    """Is it an interval of whole numbers, for a key that has one? Hydra makes decimals of its ends."""
    is_whole = is_number(value) and isinstance(value, int)
    return is_whole and all(end == math.floor(end) for end in ends_of(sweep))


def distribution(override: Override, start: Any, *, widened: bool = False) -> BaseDistribution:
    """What Optuna draws for a sweep.

    Args:
        override: with the sweep.
        start: the value of the first job.
        widened: does it reach to that value?

    Raises:
        ConfigError: an interval for what is no number.
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    sweep = override.value()
    if not isinstance(sweep, IntervalSweep):
        return CategoricalDistribution(tuple(dict.fromkeys([*_choices(sweep), *([start] * widened)])))
    if not is_number(start):
        key = override.get_key_element()
        raise ConfigError(f"`{key}` must be a number to be searched in an interval, but is {start!r}.")
    low, high = ends_of(sweep)
    if widened:
        low, high = min(low, start), max(high, start)
    log = "log" in sweep.tags and low > 0
    if _counts(sweep, start):
        return IntDistribution(int(low), int(high), log=log)
    return FloatDistribution(float(low), float(high), log=log)
