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
_BEST = (
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
            source = "A figure without a dimension or source was collected without one. "
            source += "Which of our infusions is best is seen on test here; nothing else is chosen by it."
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
    known = [model for model in group.models if model in PUBLISHED[group.dataset][metric]]
    rows = [row for model in known if (row := _best_row(group, metric, jobs, model))]
    return Table(f"{TESTED[metric].label}, filtered, beside the best in print", _BEST, rows)


def _best_row(group: ResultGroup, metric: str, jobs: list[Job], model: str) -> tuple[Entry, ...]:
    """Of a model; empty where no job of it has ended."""
    own = [job.result for job in jobs if job.result["kge_model"] == model and job.ended_well]
    if not own:
        return ()
    infused = [
        (found, column.label)
        for column in group.columns
        if not column.is_control and (found := group.cell(model, column).infused(_SETTING, metric))
    ]
    best, way = max(infused, key=lambda each: each[0].value) if infused else (None, None)
    size = _text((own[0].get("config") or {}).get("dim")), _text(own[0]["baseline"].get("numbers_per_entity"))
    theirs = MarkedNumber(PUBLISHED[group.dataset][metric][model] / 100)
    dim, source = published_by(group.dataset, model)
    baseline = group.baseline(model, _SETTING, metric)
    return label(model), *size, baseline, best, way, theirs, _text(dim), source


def _text(value: object) -> str | None:
    return None if value is None else f"{value}"
