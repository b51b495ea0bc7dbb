"""A job as the page knows it: its names, and its figures in each setting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from mohone.core.config import Plain
from mohone.evaluation.settings import ALL_SETTINGS, TESTED, settings_in
from mohone.reporting.datasets import Results
from mohone.reporting.infusions import changed_nothing, column_of, has_infusion
from mohone.reporting.labels import label, place
from mohone.reporting.page.intervals import Interval, interval_of_ranks, interval_of_test
from mohone.reporting.results import is_gain, read_ranks

Version = tuple[str, str]  # A setting and a metric: what the page can be switched to.


class Figure(NamedTuple):
    """A job's metric in a setting.

    Attributes:
        before: of the baseline.
        after: of the infused model; None: there is none.
        gain: after less before.
        p_value: of the paired test.
        star: is the gain better than chance?
        interval: of the gain; None: it cannot be known.
    """

    before: float
    after: float | None = None
    gain: float = 0.0
    p_value: float = 1.0
    star: bool = False
    interval: Interval | None = None

    @property
    def best(self) -> float:
        """What the job came to."""
        return self.before if self.after is None else self.after


@dataclass(frozen=True)
class Job:
    """One result.

    Attributes:
        number: from 0, on this page.
        result: as it was written.
        folder: of the job.
        place: the folder's name, as much of it as tells it from the others.
    """

    number: int
    result: Plain
    folder: Path
    place: str

    @property
    def ended_well(self) -> bool:
        """Has it figures?"""
        return bool(self.result["status"] == "ok")

    @property
    def model(self) -> str:
        """The readable name of its model."""
        return label(self.result["kge_model"])

    @property
    def way(self) -> str:
        """How the model was infused."""
        return column_of(self.result).label if has_infusion(self.result) else "no infusion"

    @property
    def name(self) -> str:
        """Model and infusion."""
        return f"{self.model} + {self.way}" if has_infusion(self.result) else self.model

    @property
    def group(self) -> tuple[str, str, str]:
        """Data set, recipe and training."""
        result = self.result
        return result["dataset"]["name"], str(result["recipe"]), str(result["training"])

    @property
    def order(self) -> tuple[object, ...]:
        """A key to sort by: the paper's models and infusions first."""
        seed = self.result["seed"]
        by_seed = (0, seed, "") if isinstance(seed, int) else (1, 0, str(seed))  # It may have failed by it.
        return place(self.result["kge_model"]), column_of(self.result).place, by_seed, self.number

    @property
    def unmoved(self) -> bool:
        """Did validation choose no infusion?"""
        return bool(self.result["infused"]) and changed_nothing(self.result)

    @property
    def seconds(self) -> float | None:
        """Of all its training, wherever it was done; None: the result does not say."""
        seconds = self.result.get("seconds")
        return sum(value for name, value in seconds.items() if name != "evaluation") if seconds else None

    @cached_property
    def figures(self) -> dict[Version, Figure]:
        """All that it has, by setting and metric."""
        if not self.ended_well:
            return {}
        settings = settings_in(self.result["baseline"])
        return {(setting, metric): self._figure(setting, metric) for setting in settings for metric in TESTED}

    def _figure(self, setting: str, metric: str) -> Figure:
        before = float(self.result["baseline"][setting][metric])
        infused = self.result["infused"]
        if not infused or setting not in infused:
            return Figure(before)
        test = self.result["significance"][setting][metric]
        figures = {"gain": test["delta"], "p_value": test["p_value"], "star": is_gain(test)}
        return Figure(
            before, float(infused[setting][metric]), **figures, interval=self._interval(setting, metric)
        )

    def _interval(self, setting: str, metric: str) -> Interval | None:
        """By query where the job kept its ranks; else from the test."""
        before, after = (read_ranks(self.folder, which, setting) for which in ("baseline", "infused"))
        if before is not None and after is not None and before.shape == after.shape:
            return interval_of_ranks(metric, before, after)
        n_test = self.result["dataset"].get("n_test")
        test = self.result["significance"][setting][metric]
        return interval_of_test(metric, test, 2 * n_test if n_test else None)


def jobs_of(results: Results) -> list[Job]:
    """All jobs in their order."""
    folders = [path.parent for path, _ in results]
    shared = _shared_parts(folders)
    return [
        Job(i, result, folder, "/".join(folder.parts[shared:]) or folder.name)
        for i, ((_, result), folder) in enumerate(zip(results, folders, strict=True))
    ]


def _shared_parts(folders: list[Path]) -> int:
    """How many parts of their paths all have, but for the last."""
    n = 0
    while all(len(each.parts) > n + 1 for each in folders) and len({each.parts[n] for each in folders}) == 1:
        n += 1
    return n


def versions_of(jobs: list[Job]) -> list[Version]:
    """Settings and metrics that any job has figures in, in their usual order."""
    found = {version for job in jobs for version in job.figures}
    return [(setting, metric) for setting in ALL_SETTINGS for metric in TESTED if (setting, metric) in found]
