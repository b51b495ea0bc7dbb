"""Charts without a size: axes from 0 to 100, their ticks, and marks; what a template draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_MOST_POINTS = 150  # Of a line; more cannot be seen.
N_COLORS = 8  # That the style sheet has; then they begin again.


class Tick(NamedTuple):
    """A label of an axis and where it stands, from 0 to 100."""

    place: float
    text: str


@dataclass(frozen=True)
class Axis:
    """From values to places between 0 and 100.

    Attributes:
        low, high: the values at its ends, `low < high`.
        title: what the values are.
        log: are they spread by their logarithm? Then they are above 0.
    """

    low: float
    high: float
    title: str
    log: bool = False

    @classmethod
    def around(
        cls, values: Iterable[float], title: str, log: bool = False, zero: bool = False, margin: float = 0.06
    ) -> Axis:
        """An axis that has room for all values.

        Args:
            values: one at least.
            title: what they are.
            log: see `Axis`.
            zero: must 0 be on it?
            margin: at both ends, as a share.
        """
        found = [*values, *([0.0] if zero else [])]
        low, high = min(found), max(found)
        if log:
            low, high = math.log(low), math.log(high)
        room = margin * (high - low) if high > low else (0.5 if log else 0.05 * abs(high) or 1.0)
        low, high = low - room, high + room
        return cls(math.exp(low), math.exp(high), title, True) if log else cls(low, high, title)

    def place(self, value: float) -> float:
        """Where a value stands.

        >>> Axis(0, 4, "").place(1), round(Axis(1, 100, "", log=True).place(10))
        (25.0, 50)
        """
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return round(100 * (at - low) / (high - low), 2)

    @property
    def ticks(self) -> list[Tick]:
        """A few round values."""
        values = _round_logs(self.low, self.high) if self.log else []
        values = values if len(values) > 1 else _round(self.low, self.high)
        return [Tick(self.place(value), short(value)) for value in values]


def _round(low: float, high: float) -> list[float]:
    """Three to six multiples of 1, 2 or 5 times a power of ten.

    >>> _round(0.03, 0.29)
    [0.05, 0.1, 0.15, 0.2, 0.25]
    """
    size = 10 ** math.floor(math.log10(high - low))
    steps = [factor * size for factor in (0.1, 0.2, 0.5, 1, 2, 5)]
    step = next(each for each in steps if (high - low) / each <= 5.5)
    digits = max(0, 1 - math.floor(math.log10(step)))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, digits) + 0.0 for i in range(first, last + 1)]


def _round_logs(low: float, high: float) -> list[float]:
    """Powers of ten, or 1, 2 and 5 times these where they are few.

    >>> _round_logs(3, 3000), _round_logs(3, 30)
    ([10.0, 100.0, 1000.0], [5.0, 10.0, 20.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(tens) > 2:
        return tens
    each = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    return [value for value in each if low <= value <= high]


def short(value: float) -> str:
    """A number for a label.

    >>> short(12000.0), short(0.25), short(3.0)
    ('12k', '0.25', '3')
    """
    text = f"{value / 1000:g}k" if abs(value) >= 10000 else f"{value:.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


class Dot(NamedTuple):
    """A mark, and what is said of it to whoever points at it."""

    x: float
    y: float
    color: int
    hollow: bool
    text: str
    job: int | None = None


class Line(NamedTuple):
    """A line; `points` as SVG writes them, y from below."""

    points: str
    color: int
    dashed: bool = False


class Key(NamedTuple):
    """An entry of a legend."""

    text: str
    color: int | None = None
    hollow: bool = False
    dashed: bool = False
    is_line: bool = False


@dataclass
class Chart:
    """Axes and what is drawn between them.

    Attributes:
        title: above it.
        x, y: its axes.
        dots, lines: in places from 0 to 100, to be made by `dot` and `line`.
        legend: of colours.
    """

    title: str
    x: Axis
    y: Axis
    dots: list[Dot] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    legend: list[Key] = field(default_factory=list)

    def dot(
        self, x: float, y: float, color: int, text: str, hollow: bool = False, job: int | None = None
    ) -> None:
        """Draw a mark at two values."""
        self.dots.append(Dot(self.x.place(x), self.y.place(y), color % N_COLORS, hollow, text, job))

    def line(self, points: Sequence[tuple[float, float]], color: int, dashed: bool = False) -> None:
        """Draw a line through values, of a long one every so-many-th."""
        places = [f"{self.x.place(x):g},{100 - self.y.place(y):g}" for x, y in _thinned(points)]
        self.lines.append(Line(" ".join(places), color % N_COLORS, dashed))


def _thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """At most so many, the last among them."""
    step = math.ceil(len(points) / _MOST_POINTS)
    return points if step <= 1 else [*points[:-1:step], points[-1]]
