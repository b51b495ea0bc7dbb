"""Our figures beside those in print: the paper's, and the best baselines known, with dimension and source."""

from __future__ import annotations

from typing import NamedTuple

from mohone.evaluation.settings import TESTED
from mohone.reporting.cells import Entry, MarkedNumber, Table
from mohone.reporting.groups import ResultGroup
from mohone.reporting.labels import label
from mohone.reporting.page.jobs import Job
from mohone.reporting.reference import DIM, PAPER, PUBLISHED, SOURCE, published_by
from mohone.reporting.tables import paper_table

_SETTING = "filtered"


class Beside(NamedTuple):
    """A table, and under it where its figures are from."""

    metric: str
    table: Table
    source: str


def beside_published(group: ResultGroup, jobs: list[Job]) -> list[Beside]:
    """Both tables for each metric; of data sets that nothing was published on, none.

    Args:
        group: of results.
        jobs: of the group.
    """
    out = []
    for metric in TESTED:
        if group.dataset in PAPER and (table := _papers(group, metric)).rows:
            out.append(Beside(metric, table, f"{SOURCE} Its vectors have d = {DIM}; ours, see below."))
        if metric in PUBLISHED.get(group.dataset, {}) and (table := _best(group, metric, jobs)).rows:
            source = "A figure without a dimension or source was collected without one."
            out.append(Beside(metric, table, f"{PUBLISHED['source']} {source}"))
    return out


def _papers(group: ResultGroup, metric: str) -> Table:
    """The rows of the paper's table that we have anything for."""
    table = paper_table(group, metric)
    ours = table.header.index("Infused")
    rows = [row for row in table.rows if isinstance(row[ours], MarkedNumber)]
    return Table(f"{TESTED[metric].label}, typed, beside the paper's", table.header, rows)


def _best(group: ResultGroup, metric: str, jobs: list[Job]) -> Table:
    """Our baseline and the best of what we infused, beside the best in print."""
    header = (
        "Model",
        "d",
        "Numbers an entity",
        "Baseline",
        "Best infused",
        "by",
        "In print",
        "its d",
        "Source",
    )
    theirs = PUBLISHED[group.dataset][metric]
    rows: list[tuple[Entry, ...]] = []
    for model in group.models:
        own = [job for job in jobs if job.result["kge_model"] == model and job.ended_well]
        if model not in theirs or not own:
            continue
        config = own[0].result.get("config") or {}
        numbers = own[0].result["baseline"].get("numbers_per_entity")
        infused = [
            (found, column.label)
            for column in group.columns
            if not column.is_control and (found := group.cell(model, column).infused(_SETTING, metric))
        ]
        best, way = max(infused, key=lambda each: each[0].value) if infused else (None, None)
        dim, source = published_by(group.dataset, model)
        rows.append(
            (
                label(model),
                _text(config.get("dim")),
                _text(numbers),
                group.baseline(model, _SETTING, metric),
                best,
                way,
                MarkedNumber(theirs[model] / 100),
                _text(dim),
                source,
            )
        )
    return Table(f"{TESTED[metric].label}, filtered, beside the best in print", header, rows)


def _text(value: object) -> str | None:
    return None if value is None else f"{value}"
