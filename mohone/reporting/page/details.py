"""One job closely: its gain by relation, degree and distance, and in parts; curves and the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mohone.core.config import Plain
from mohone.evaluation.settings import TESTED
from mohone.reporting.infusions import chosen, parts_of, tried_points
from mohone.reporting.page.charts import Axis, Chart, Key
from mohone.reporting.page.extras import Extras, Steps
from mohone.reporting.page.jobs import Job
from mohone.reporting.results import LEVEL, is_gain

_BINS = {
    "degrees": ("By degree", "neighbours of the right answer in train"),
    "distances": ("By distance", "edges between head and tail in the training network"),
    "categories": ("By kind of relation", "how many heads and tails go together"),
}
_CURVES = {"train/loss": "loss", "objective": "objective", "valid/mrr": "validation MRR"}


class Relation(NamedTuple):
    """A relation's figures; `added` is its gain times its share of all queries: they sum to the job's."""

    name: str
    n_queries: int
    before: float
    after: float
    gain: float
    added: float


class Bin(NamedTuple):
    """A part of the queries; `left` and `width` are those of the bar of its gain, from 0 to 100."""

    name: str
    n_queries: int
    before: float
    gain: float
    left: float
    width: float


class Bins(NamedTuple):
    """A partition of the queries in one setting, and where no gain lies."""

    title: str
    about: str
    setting: str
    bins: list[Bin]
    zero: float


class PartRow(NamedTuple):
    """A part of the gain: that of something alone, or all beyond it."""

    name: str
    figure: float | None
    gain: float
    p_value: float
    star: bool


@dataclass(frozen=True)
class Details:
    """All that is shown of one job alone.

    Attributes:
        job: which.
        chosen: on validation, in words.
        parts: of its gain.
        relations: those that add or cost most first; `n_relations` is how many it has.
        bins: by degree, distance and kind of relation in each setting.
        curves: of its stages.
        grid: gain on validation by beta; None: there was no such choice.
        trials: what cross-validation chose between, and its MRR.
        own: what of its configuration other jobs of the page have not.
        extras: what could be had by opening it.
    """

    job: Job
    chosen: str
    parts: list[PartRow]
    relations: list[Relation]
    n_relations: int
    bins: list[Bins]
    curves: list[Chart]
    grid: Chart | None
    trials: list[tuple[str, float]]
    own: list[tuple[str, str]]
    extras: Extras


def details_of(job: Job, own: list[tuple[str, str]], extras: Extras, most_relations: int) -> Details:
    """The details of a job that ended well; of relations those that change most, as many as are asked for."""
    found = relations_of(job.result)
    shown = sorted(found, key=lambda each: -abs(each.added))[:most_relations]
    return Details(
        job=job,
        chosen=chosen(job.result),
        parts=_parts(job.result),
        relations=sorted(shown, key=lambda each: -each.added),
        n_relations=len(found),
        bins=bins_of(job.result),
        curves=curves_of(extras),
        grid=grid_of(job.result),
        trials=trials_of(job.result),
        own=own,
        extras=extras,
    )


def relations_of(result: Plain) -> list[Relation]:
    """The relations of a job that was infused, filtered; none of a result that knows none."""
    if not result["infused"] or "relations" not in result["baseline"]["filtered"]:
        return []
    before, after = (result[which]["filtered"]["relations"] for which in ("baseline", "infused"))
    total = sum(each["n_ranked"] for each in before.values())
    out = []
    for name, each in before.items():
        gain, n = after[name]["mrr"] - each["mrr"], each["n_ranked"]
        out.append(Relation(name, n, each["mrr"], after[name]["mrr"], gain, gain * n / total))
    return out


def bins_of(result: Plain) -> list[Bins]:
    """Gain in MRR by parts of the queries; none of a job without an infusion."""
    if not result["infused"]:
        return []
    settings = [setting for setting in result["significance"] if setting in result["infused"]]
    return [
        _bins(kind, setting, *(result[which][setting][kind] for which in ("baseline", "infused")))
        for kind in _BINS
        for setting in settings
        if kind in result["baseline"][setting]
    ]


def _bins(kind: str, setting: str, before: Plain, after: Plain) -> Bins:
    known = {name: each for name, each in before.items() if each}
    gains = {name: after[name]["mrr"] - each["mrr"] for name, each in known.items()}
    axis = Axis.around([100 * gain for gain in gains.values()], "points", zero=True, margin=0.0)
    zero = axis.place(0)
    bins = []
    for name, each in known.items():
        place = axis.place(100 * gains[name])
        width = round(abs(place - zero), 2)
        bins.append(Bin(name, each["n_ranked"], each["mrr"], gains[name], min(place, zero), width))
    return Bins(*_BINS[kind], setting, bins, zero)


def _parts(result: Plain) -> list[PartRow]:
    """The gain in filtered MRR in two, for each part that the result tells."""
    out = []
    for name, part in parts_of(result).items():
        for title, figure, which in (
            (f"{name} alone", part["figures"]["filtered"]["mrr"], "gain"),
            (f"beyond {name}", None, "beyond"),
        ):
            test = part[which]["filtered"]["mrr"]
            out.append(PartRow(title, figure, test["delta"], test["p_value"], is_gain(test)))
    return out


def curves_of(extras: Extras) -> list[Chart]:
    """A chart for each figure that a stage noted step by step."""
    out = []
    for stage, steps in extras.curves.items():
        for key, title in _CURVES.items():
            points = _points(steps, key)
            if len(points) < 2:
                continue
            steps_of = "iteration" if key == "objective" else "epoch"
            x = Axis.around([x for x, _ in points], steps_of, margin=0.02)
            chart = Chart(f"{stage}: {title}", x, Axis.around([y for _, y in points], title))
            chart.line(points, color=0)
            out.append(chart)
    return out


def _points(steps: Steps, key: str) -> list[tuple[float, float]]:
    """Epochs, from 1, and a figure that not each of them has."""
    found = ((step["epoch"], step.get(key)) for step in steps)
    return [(epoch + 1, value) for epoch, value in found if epoch is not None and value is not None]


def grid_of(result: Plain) -> Chart | None:
    """Gain on validation, before re-training, against beta; a line for each number of neighbours."""
    tried = tried_points(result)
    baseline = (result["selection"] or {}).get("valid_mrr_baseline")
    if not tried or baseline is None:
        return None
    gains = {id(point): 100 * (point["valid_mrr"] - baseline) for point in tried}
    x = Axis.around([point["beta"] for point in tried], "beta", zero=True)
    y = Axis.around(gains.values(), "gain on validation, points of MRR", zero=True)
    chart = Chart("The infusion's grid", x, y)
    lines = list(dict.fromkeys((point["side"], point["neighbors"]) for point in tried))
    for color, (side, neighbors) in enumerate(lines):
        own = [point for point in tried if (point["side"], point["neighbors"]) == (side, neighbors)]
        own.sort(key=lambda point: point["beta"])
        chart.line([(point["beta"], gains[id(point)]) for point in own], color)
        for point in own:
            text = f"{neighbors} neighbours, beta {point['beta']:g}: {gains[id(point)]:+.2f} points"
            chart.dot(point["beta"], gains[id(point)], color, text)
        chart.legend.append(Key(f"{neighbors} neighbours ({side})", color, is_line=True))
    return chart


def trials_of(result: Plain) -> list[tuple[str, float]]:
    """What cross-validation compared, in words, and the MRR of each; an infusion may have no such choice."""
    selection = result["selection"] or {}
    modes = {name.replace("_", " "): mrr for name, mrr in selection.get("cross_validated_mrr", {}).items()}
    penalties = selection.get("cross_validated_mrr_by_penalty", {})
    return [*modes.items(), *((f"penalty {penalty}", mrr) for penalty, mrr in penalties.items())]


def summary_of(job: Job) -> str:
    """The job in one sentence."""
    result = job.result
    data = result["dataset"]["name"]
    figure = job.figures.get(("filtered", "mrr"))
    if figure is None:
        return f"{job.name} on {data} has no figures: the job {result['status']}."
    metric = TESTED["mrr"].label
    if figure.after is None:
        return f"{job.model} on {data} has a filtered {metric} of {100 * figure.before:.1f} points."
    change = "raises" if figure.gain >= 0 else "lowers"
    told = f"p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{figure.p_value:.2g}"
    told += ", so it may be chance" if figure.p_value >= LEVEL else ""
    return (
        f"{job.way} {change} {job.model}'s filtered {metric} on {data} from {100 * figure.before:.1f} to "
        f"{100 * figure.after:.1f} points ({told})."
    )
