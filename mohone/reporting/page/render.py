"""All parts of a page put together, and written as HTML by the templates beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from mohone.core.config import Plain
from mohone.evaluation.settings import TESTED
from mohone.reporting.cells import MarkedNumber
from mohone.reporting.datasets import Results
from mohone.reporting.groups import AmbiguousError, ResultGroup, group_results
from mohone.reporting.page.cost import cost_charts
from mohone.reporting.page.details import Details, details_of, summary_of
from mohone.reporting.page.extras import Extras
from mohone.reporting.page.gains import heat_map, intervals
from mohone.reporting.page.jobs import Job, Version, jobs_of, versions_of
from mohone.reporting.page.published import beside_published
from mohone.reporting.page.settings import Pairs, shared_and_own

_FEW = 12  # Jobs that all relations are shown of.
_MOST_RELATIONS = 40  # Of each of more jobs: those that add or cost most.
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Group:
    """A data set under a recipe: its jobs and what is drawn of them together, by version.

    Attributes:
        title: its name.
        warnings: of the report on loading its data, each once.
        jobs: all.
        maps, rows, charts: by version.
        published: beside figures in print.
    """

    title: str
    warnings: list[str]
    jobs: list[Job]
    maps: dict[Version, Any]
    rows: dict[Version, Any]
    charts: dict[Version, Any]
    published: list[Any]


def page_of(results: Results, title: str, extras: Mapping[Path, Extras] | None = None) -> str:
    """The page of some results.

    Args:
        results: one at least.
        title: what they are.
        extras: by the job's folder, what could be had by opening it.
    """
    template = _templates().get_template("page.html.j2")
    jobs = jobs_of(results)
    versions = versions_of(jobs)
    well = [job for job in jobs if job.ended_well]
    ambiguous, found = _groups(results)
    shared, own = shared_and_own([job.result.get("config") or {} for job in well])
    html: str = template.render(
        title=title,
        jobs=jobs,
        well=well,
        versions=versions,
        settings=list(dict.fromkeys(setting for setting, _ in versions)),
        metrics={metric: each.label for metric, each in TESTED.items()},
        groups=[
            _group(key, jobs, versions, found.get(key)) for key in dict.fromkeys(job.group for job in jobs)
        ],
        ambiguous=ambiguous,
        details=_details(well, own, extras or {}),
        summary=summary_of(jobs[0]) if len(jobs) == 1 else "",
        counts=_counts(jobs),
        shared=shared,
        about=_about(well),
    )
    return html


def _groups(results: Results) -> tuple[str, dict[tuple[str, str, str], ResultGroup]]:
    """Groups by their key; where results cannot stand in one table none, and why."""
    try:
        found = group_results(results)
    except AmbiguousError as error:
        return str(error), {}
    return "", {(group.dataset, group.recipe, group.training): group for group in found}


def _group(
    key: tuple[str, str, str], jobs: list[Job], versions: list[Version], found: ResultGroup | None
) -> Group:
    own = sorted((job for job in jobs if job.group == key), key=lambda job: job.order)
    numbers: dict[object, int] = {job.folder: job.number for job in own}
    maps = {version: heat_map(found, version, numbers) for version in versions} if found else {}
    title = ResultGroup(*key).title
    rows = {version: intervals(own, version) for version in versions}
    charts = {version: cost_charts(own, version) for version in versions}
    return Group(
        title, _warnings(own), own, maps, rows, charts, beside_published(found, own) if found else []
    )


def _warnings(jobs: list[Job]) -> list[str]:
    """What was found wrong in the data of these jobs; results of earlier versions say nothing of it."""
    reports = [job.result["dataset"].get("report") or {} for job in jobs]
    return list(dict.fromkeys(warning for report in reports for warning in report.get("warnings", ())))


def _details(jobs: list[Job], own: list[Pairs], extras: Mapping[Path, Extras]) -> list[Details]:
    most = 10**9 if len(jobs) <= _FEW else _MOST_RELATIONS
    return [
        details_of(job, pairs, extras.get(job.folder, Extras(left_out="This job was not opened.")), most)
        for job, pairs in zip(jobs, own, strict=True)
    ]


def _counts(jobs: list[Job]) -> dict[str, int]:
    """How many jobs, how many of them failed, had an infusion, gained by it more than chance, lost by it."""
    figures = [job.figures.get(("filtered", "mrr")) for job in jobs]
    infused = [figure for figure in figures if figure and figure.after is not None]
    return {
        "jobs": len(jobs),
        "failed": sum(not job.ended_well for job in jobs),
        "infused": len(infused),
        "better": sum(figure.star for figure in infused),
        "worse": sum(figure.gain < 0 and figure.p_value < 0.05 for figure in infused),
    }


def _about(jobs: list[Job]) -> list[tuple[str, str]]:
    """Data sets, seeds and versions, each with all values that the jobs have."""
    facts: dict[str, dict[str, None]] = {}

    def add(name: str, value: object) -> None:
        facts.setdefault(name, {})[str(value)] = None

    for job in jobs:
        dataset: Plain = job.result["dataset"]
        sizes = [f"{dataset[key]:,} {what}" for key, what in _SIZES.items() if key in dataset]
        mark = [f"fingerprint {dataset['fingerprint'][:12]}"] if "fingerprint" in dataset else []
        add(f"data set {dataset['name']}", ", ".join([*sizes, *mark]) or "sizes unknown")
        add("seed", job.result["seed"])
        for package, version in (job.result.get("versions") or {}).items():
            add(package, version)
    return [(name, " / ".join(values)) for name, values in facts.items()]


_SIZES = {
    "n_entities": "entities",
    "n_relations": "relations",
    "n_train": "training triples",
    "n_valid": "for validation",
    "n_test": "for test",
}


def _templates() -> Any:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    made = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"points": points, "gain": gain, "p": p_value, "entry": entry, "seconds": seconds}
    return made


def points(value: float) -> str:
    """A share in points.

    >>> points(0.2986)
    '29.9'
    """
    return f"{100 * value:.1f}"


def gain(value: float, digits: int = 1) -> str:
    """A difference of shares in points, with its sign.

    >>> gain(0.0123), gain(0.0123, 2)
    ('+1.2', '+1.23')
    """
    return f"{100 * value:+.{digits}f}".replace("-", _MINUS)


def p_value(value: float) -> str:
    """A p-value in two figures.

    >>> p_value(0.043), p_value(0.0)
    ('0.043', '< 1e-300')
    """
    return f"{value:.2g}" if value else "< 1e-300"


def seconds(value: float) -> str:
    """A time in its usual unit.

    >>> seconds(3.2), seconds(90), seconds(9000)
    ('3.2 s', '1.5 min', '2.5 h')
    """
    if value < 60:
        return f"{value:.1f} s"
    return f"{value / 60:.1f} min" if value < 3600 else f"{value / 3600:.1f} h"


def entry(value: str | MarkedNumber | None) -> str:
    """A cell of a table, with its marks."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, str):
        return value
    text = points(value.value) if value.kind == "points" else gain(value.value)
    text += "%" * (value.kind == "percent")
    text += f" ± {100 * value.spread:.1f}" if value.spread is not None else ""
    return text + "*" * value.star + "°" * value.unmoved + "†" * value.partial + "‡" * value.above
