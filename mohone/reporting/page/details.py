"""One job closely: its gain by relation, degree and distance, and in parts; curves and the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mohone.core.config import Plain
from mohone.evaluation.settings import TESTED
from mohone.reporting.breakdown import BinGain, RelationGain, gains_by_bin, gains_by_point, gains_by_relation
from mohone.reporting.infusions import chosen, parts_of
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


class Bin(NamedTuple):
    """A part of the queries; `left` and `width` are those of the bar of its gain, from 0 to 100."""

    of: BinGain
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
    relations: list[RelationGain]
    n_relations: int
    bins: list[Bins]
    curves: list[Chart]
    grid: Chart | None
    trials: list[tuple[str, float]]
    own: list[tuple[str, str]]
    extras: Extras


def details_of(job: Job, own: list[tuple[str, str]], extras: Extras, most_relations: int) -> Details:
    """The details of a job that ended well; of relations those that change most, as many as are asked for."""
    found = gains_by_relation(job.result)
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


def bins_of(result: Plain) -> list[Bins]:
    """Gain in MRR by parts of the queries; none of a job without an infusion."""
    if not result["infused"]:
        return []
    settings = [setting for setting in result["significance"] if setting in result["infused"]]
    found = ((kind, setting, gains_by_bin(result, kind, setting)) for kind in _BINS for setting in settings)
    return [_bins(kind, setting, gains) for kind, setting, gains in found if gains]


def _bins(kind: str, setting: str, gains: list[BinGain]) -> Bins:
    known = [each for each in gains if each.n_queries]
    axis = Axis.around([100 * each.gain for each in known], "points", zero=True, margin=0.0)
    zero = axis.place(0)
    bins = []
    for each in known:
        place = axis.place(100 * each.gain)
        bins.append(Bin(each, min(place, zero), round(abs(place - zero), 2)))
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
    lines = gains_by_point(result)
    if not lines:
        return None
    lines = {key: [(beta, 100 * gain) for beta, gain in line] for key, line in lines.items()}
    points = [point for line in lines.values() for point in line]
    x = Axis.around([beta for beta, _ in points], "beta", zero=True)
    y = Axis.around([gain for _, gain in points], "gain on validation, points of MRR", zero=True)
    chart = Chart("The infusion's grid", x, y)
    for color, ((side, neighbors), line) in enumerate(lines.items()):
        chart.line(line, color)
        for beta, gain in line:
            chart.dot(beta, gain, color, f"{neighbors} neighbours, beta {beta:g}: {gain:+.2f} points")
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
