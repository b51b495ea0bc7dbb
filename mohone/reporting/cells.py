"""Tables and their cells: all seeds of a model, infused in one way, and the numbers that stand for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mohone.core.config import Plain
from mohone.evaluation.significance import gain_of_ranks
from mohone.reporting import infusions
from mohone.reporting.results import is_gain, read_ranks


class MarkedNumber(NamedTuple):
    """A number of a table, and the marks beside it.

    Attributes:
        value: a share or a difference of shares, not in points; the mean over seeds.
        kind: how it is written: `points`, `gain` (points with a sign), `percent` (with a sign).
        star: is it better than what it is compared with, for each seed at p < 0.05?
        spread: the standard deviation over seeds; None with one.
        unmoved: did validation choose no infusion, for each seed?
        partial: did a job of another seed fail?
        above: is it better than the retrofitted model, too, for each seed at p < 0.05?
    """

    value: float
    kind: str = "points"
    star: bool = False
    spread: float | None = None
    unmoved: bool = False
    partial: bool = False
    above: bool = False


Entry = str | MarkedNumber | None  # None: missing.


@dataclass(frozen=True)
class Table:
    """A table of names and numbers; all rows are as long as the header.

    Attributes:
        title: above it.
        header: names of the columns.
        rows: of entries.
        note: below it, of marks that no other table has.
    """

    title: str
    header: tuple[str, ...]
    rows: list[tuple[Entry, ...]]
    note: str = ""


@dataclass
class Cell:
    """One model infused in one way, by seed.

    Attributes:
        results: by seed, those that ended well.
        folders: of these.
        failed: seeds of which a job failed.
    """

    results: dict[int, Plain] = field(default_factory=dict)
    folders: dict[int, Path] = field(default_factory=dict)
    failed: set[int | str] = field(default_factory=set)

    def values(self, which: str, setting: str, metric: str) -> dict[int, float]:
        """A metric of `baseline` or `infused` by seed."""
        return {
            seed: float(result[which][setting][metric])
            for seed, result in self.results.items()
            if result[which] is not None and setting in result[which]
        }

    def infused(self, setting: str, metric: str) -> MarkedNumber | None:
        """With a star if each seed's gain is significant; None where there is none."""
        infused = [each for each in self.results.values() if each["infused"] and setting in each["infused"]]
        star = all(is_gain(result["significance"][setting][metric]) for result in infused)
        found = mean_of_seeds(list(self.values("infused", setting, metric).values()))
        unmoved = all(infusions.changed_nothing(result) for result in infused)
        partial = bool(self.failed - self.results.keys())
        return found and found._replace(star=star, unmoved=unmoved, partial=partial)

    def shown(self, setting: str, metric: str) -> Entry:
        """What stands in a table: the infused figure; that the job failed; nothing."""
        return self.infused(setting, metric) or ("failed" if self.failed else None)

    def gain(self, setting: str, metric: str, relative: bool = False) -> MarkedNumber | None:
        """Over the baselines of the same seeds, in points or as a share of them."""
        after = self.values("infused", setting, metric)
        before = self.values("baseline", setting, metric)
        if not after:
            return None
        base = float(np.mean([before[seed] for seed in after]))
        change = float(np.mean(list(after.values()))) - base
        if not relative:
            return MarkedNumber(change, "gain")
        return MarkedNumber(change / base, "percent") if base else None


def mean_of_seeds(values: list[float]) -> MarkedNumber | None:
    """The mean of seeds, and their standard deviation if there are several; None of nothing.

    >>> mean_of_seeds([0.25, 0.75]).spread
    0.3535533905932738
    """
    if not values:
        return None
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return MarkedNumber(float(np.mean(values)), spread=spread)


def is_better(cell: Cell, rival: Cell, setting: str, metric: str = "mrr") -> bool | None:
    """Is one infused model's figure above another's for each seed, by the paired test at p < 0.05?

    It needs the ranks that jobs leave beside their results; None: there are none for a seed that both have.
    """
    seeds = cell.folders.keys() & rival.folders.keys()
    found = [_is_better(rival.folders[seed], cell.folders[seed], setting, metric) for seed in seeds]
    return None if not found or None in found else all(found)


def _is_better(theirs: Path, ours: Path, setting: str, metric: str) -> bool | None:
    before, after = (read_ranks(folder, "infused", setting) for folder in (theirs, ours))
    if before is None or after is None or before.shape != after.shape:
        return None
    return is_gain(gain_of_ranks(metric, before, after))
