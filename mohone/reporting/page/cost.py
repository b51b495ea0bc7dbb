"""What a figure costs: against the seconds of its training, and against how many numbers an entity has."""

from __future__ import annotations

from collections.abc import Callable

from mohone.evaluation.settings import TESTED
from mohone.reporting.labels import label
from mohone.reporting.page.charts import N_COLORS, Axis, Chart, Key
from mohone.reporting.page.jobs import Job, Version

_Measure = Callable[[Job, str], float | None]


def cost_charts(jobs: list[Job], version: Version) -> list[Chart]:
    """The two charts of a group of jobs; one is left out where fewer than two costs are known for it."""
    seconds = _chart(jobs, version, _seconds, "seconds of training", "s", log=True)
    numbers = _chart(jobs, version, _numbers, "numbers per entity", "numbers", log=False)
    return [chart for chart in (seconds, numbers) if chart is not None]


def _seconds(job: Job, which: str) -> float | None:
    """Of the baseline alone, or of all training."""
    if which == "baseline":
        return (job.result.get("seconds") or {}).get("baseline") or None
    return job.seconds or None


def _numbers(job: Job, which: str) -> float | None:
    return (job.result[which] or {}).get("numbers_per_entity")


def _chart(
    jobs: list[Job], version: Version, measure: _Measure, title: str, unit: str, log: bool
) -> Chart | None:
    models = list(dict.fromkeys(job.result["kge_model"] for job in jobs))
    marks: dict[tuple[object, ...], tuple[float, float, int, str, bool, int]] = {}
    for job in jobs:
        figure = job.figures.get(version)
        values = {"baseline": figure and figure.before, "infused": figure and figure.after}
        for which, value in values.items():
            x = measure(job, which) if value is not None else None
            if value is None or x is None:
                continue
            is_before = which == "baseline"
            name = f"{job.model}, baseline" if is_before else job.name
            text = f"{name}: {100 * value:.1f} points, {x:,.0f} {unit}"
            color = models.index(job.result["kge_model"])
            marks.setdefault((text, job.result["seed"]), (x, 100 * value, color, text, is_before, job.number))
    if len({x for x, *_ in marks.values()}) < 2:
        return None
    setting, metric = version
    x_axis = Axis.around([x for x, *_ in marks.values()], title, log)
    y_axis = Axis.around([y for _, y, *_ in marks.values()], f"{TESTED[metric].label}, {setting}, points")
    chart = Chart(f"{TESTED[metric].label} against {title}", x_axis, y_axis)
    for x, y, color, text, hollow, number in sorted(marks.values(), key=lambda mark: mark[4]):
        chart.dot(x, y, color, text, hollow, number)
    chart.legend = [Key(label(model), i % N_COLORS) for i, model in enumerate(models)]
    if len({hollow for *_, hollow, _ in marks.values()}) > 1:
        chart.legend += [Key("baseline", None, hollow=True), Key("infused")]
    return chart
