"""Gains of many jobs at a glance: a heat map of models and infusions, and an interval for each job."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from mohone.reporting.cells import MarkedNumber
from mohone.reporting.groups import ResultGroup
from mohone.reporting.infusions import Column
from mohone.reporting.labels import label
from mohone.reporting.page.charts import Axis, Tick
from mohone.reporting.page.jobs import Job, Version

_DEEPEST = 62  # Percent of the colour in the deepest tile: text on it must stay readable.


class Tile(NamedTuple):
    """A cell of a heat map.

    Attributes:
        gain: None: there is none.
        infused: the figure, with its marks.
        failed: has its job failed?
        depth: of its colour, in percent.
        job: its first seed's number.
    """

    gain: MarkedNumber | None
    infused: MarkedNumber | None
    failed: bool
    depth: float
    job: int | None


@dataclass(frozen=True)
class HeatMap:
    """Gains of a group of results in one version.

    Attributes:
        title: of the group.
        columns: ways of infusing.
        rows: model, baseline, tiles.
        greatest: the gain or loss of the deepest colour; 0: none is known.
    """

    title: str
    columns: list[Column]
    rows: list[tuple[str, MarkedNumber | None, list[Tile]]]
    greatest: float


def heat_map(group: ResultGroup, version: Version, jobs: dict[object, int]) -> HeatMap | None:
    """The heat map of a group; None where it has no such figures.

    Args:
        group: of results.
        version: setting and metric.
        jobs: by folder, their numbers.
    """
    gains = {
        (model, column): group.cell(model, column).gain(*version)
        for model in group.models
        for column in group.columns
    }
    baselines = {model: group.baseline(model, *version) for model in group.models}
    if not any(baselines.values()):
        return None
    greatest = max((abs(gain.value) for gain in gains.values() if gain), default=0.0)

    def tile(model: str, column: Column) -> Tile:
        cell, gain = group.cell(model, column), gains[model, column]
        depth = _DEEPEST * abs(gain.value) / greatest if gain and greatest else 0.0
        job = next((jobs[folder] for folder in cell.folders.values() if folder in jobs), None)
        return Tile(gain, cell.infused(*version), bool(cell.failed) and gain is None, round(depth, 1), job)

    rows = [
        (label(model), baselines[model], [tile(model, column) for column in group.columns])
        for model in group.models
    ]
    return HeatMap(group.title, group.columns, rows, greatest)


class Row(NamedTuple):
    """A job's gain and where its interval lies, from 0 to 100; `low` and `high` are None without one."""

    job: Job
    place: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Intervals:
    """The gains of some jobs on one axis.

    Attributes:
        rows: of jobs that have a gain.
        zero: where 0 lies.
        ticks: of the axis, in points.
        twice: names that several jobs of one seed have, which want their folder beside.
    """

    rows: list[Row]
    zero: float
    ticks: list[Tick]
    twice: set[str]


def intervals(jobs: list[Job], version: Version) -> Intervals | None:
    """A row for each job that has a gain; None where none has."""
    figures = {job.number: job.figures.get(version) for job in jobs}
    shown = [(job, figure) for job in jobs if (figure := figures[job.number]) and figure.after is not None]
    if not shown:
        return None
    known = [figure.interval for _, figure in shown if figure.interval]
    ends = [100 * end for interval in known for end in (interval.low, interval.high)]
    axis = Axis.around([*ends, *(100 * figure.gain for _, figure in shown)], "points", zero=True)
    rows = []
    for job, figure in shown:
        found = figure.interval
        low, high = (axis.place(100 * found.low), axis.place(100 * found.high)) if found else (None, None)
        rows.append(Row(job, axis.place(100 * figure.gain), low, high))
    told = Counter((job.name, job.result["seed"]) for job, _ in shown)
    twice = {name for (name, _), n in told.items() if n > 1}
    return Intervals(rows, axis.place(0), axis.ticks, twice)
