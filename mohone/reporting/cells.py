"""The cells of tables: all seeds of a model, infused in one way, and the numbers that stand for them."""

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
    """

    value: float
    kind: str = "points"
    star: bool = False
    spread: float | None = None
    unmoved: bool = False
    partial: bool = False


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
        infused = [result for result in self.results.values() if result["infused"]]
        star = all(is_gain(result["significance"][setting][metric]) for result in infused)
        found = mean_of_seeds(list(self.values("infused", setting, metric).values()))
        unmoved = all(infusions.changed_nothing(result) for result in infused)
        partial = bool(self.failed - self.results.keys())
        return found and found._replace(star=star, unmoved=unmoved, partial=partial)

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


def is_better(cell: Cell, rival: Cell, setting: str) -> bool:
    """Is one infused model's MRR above another's for each seed, by the paired t-test at p < 0.05?

    It needs the ranks that jobs leave beside their results; without them the answer is no.
    """
    seeds = cell.folders.keys() & rival.folders.keys()
    return bool(seeds) and all(_is_better(rival.folders[seed], cell.folders[seed], setting) for seed in seeds)


def _is_better(theirs: Path, ours: Path, setting: str) -> bool:
    before, after = (read_ranks(folder, "infused", setting) for folder in (theirs, ours))
    if before is None or after is None or before.shape != after.shape:
        return False
    return is_gain(gain_of_ranks("mrr", before, after))
