"""Where the gain of an infusion lies: by grid, degree, distance, relation, scale, baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mohone.core.config import Plain
from mohone.core.words import counted
from mohone.reporting.breakdown import gains_by_bin, gains_by_point, gains_by_relation
from mohone.reporting.infusions import network_name
from mohone.reporting.plotting import new_figure

Figure = Any  # Matplotlib has no types.
_LONGEST = 45  # Characters of a relation's name.


def grid_figure(result: Plain) -> Figure | None:
    """Gain of retrofitting on validation, before re-training, against beta; a line a number of neighbours.

    None where there was no such choice, or only of one that moves nothing.
    """
    lines = {
        f"{side}, {counted(k, 'neighbour')}": [(beta, 100 * gain) for beta, gain in points]
        for (side, k), points in gains_by_point(result).items()
    }
    if not lines:
        return None
    return _lines(lines, "beta", "gain in validation MRR, points", title(result))


def degree_figure(result: Plain) -> Figure | None:
    """Gain in test MRR by the degree of the right answer, filtered and typed; None without an infusion."""
    return _bins_figure(result, "degrees", "neighbours of the right answer in train; number of queries")


def distance_figure(result: Plain) -> Figure | None:
    """Gain in test MRR by how many edges of the training network lie between head and tail.

    Filtered and typed; None without an infusion, or of a result of before that knows no distances.
    """
    return _bins_figure(result, "distances", "edges between head and tail in train; number of queries")


def _bins_figure(result: Plain, kind: str, x_label: str) -> Figure | None:
    """Bars of a part of each setting's figures, with the number of queries below."""
    gains = {setting: gains_by_bin(result, kind, setting) for setting in ("filtered", "typed")}
    bins = gains["filtered"]
    if not bins:
        return None
    figure, axes = new_figure(6, 3.5)
    for i, (setting, each) in enumerate(gains.items()):
        places = [place + (i - 0.5) * 0.4 for place in range(len(each))]
        axes.bar(places, [100 * one.gain for one in each], 0.4, label=setting)
    axes.set_xticks(range(len(bins)), [f"{one.name}\n{one.n_queries:,}" for one in bins], fontsize=7)
    axes.set_xlabel(x_label)
    axes.set_ylabel("gain in MRR, points")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.legend()
    axes.set_title(title(result), fontsize=10)
    return figure


def relation_figure(result: Plain, most: int = 10) -> Figure | None:
    """What the relations' queries add to the gain in filtered test MRR: the greatest gains, and losses.

    A bar is the relation's own gain times its share of all queries, so the bars of all relations sum to the
    gain; beside its name stand its own gain and its number of queries. None without an infusion, or of a
    result of before that knows no relations.

    Args:
        result: of a job.
        most: gains, and as many losses.
    """
    order = sorted(gains_by_relation(result), key=lambda each: (-each.added, each.name))
    gains = [each for each in order if each.added > 0][:most]
    losses = [each for each in order if each.added < 0][-most:]
    shown = [*gains, *losses]
    if not shown:
        return None
    figure, axes = new_figure(8, 1.2 + 0.3 * len(shown))
    axes.barh(range(len(shown)), [100 * each.added for each in shown])
    names = [
        f"{_short(each.name)}  ({100 * each.gain:+.1f}, {counted(each.n_queries, 'query', 'queries')})"
        for each in shown
    ]
    axes.set_yticks(range(len(shown)), names, fontsize=7, parse_math=False)
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("added to the gain in MRR, filtered, points")
    axes.set_title(title(result), fontsize=10)
    return figure


def _short(name: str) -> str:
    """The end of a long name, which tells more than its beginning.

    >>> len(_short("/film/film/release_date_s./film/film_regional_release_date/film_release_region"))
    45
    """
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"


def scale_figure(results: Sequence[Plain], setting: str) -> Figure | None:
    """Gain in test MRR against the scale s of the network embedding; None with fewer than two scales."""

    def scale(result: Plain) -> float | None:
        netemb = result["config"]["netemb"]
        value = netemb.get("neighborhood", netemb).get("scale")  # Of results of before it stands higher up.
        return float(value) if isinstance(value, int | float) else None

    return _against(results, setting, scale, "scale s", log=True)


def strength_figure(results: Sequence[Plain], setting: str) -> Figure | None:
    """Gain in test MRR against the baseline's own MRR; None with fewer than two baselines."""

    def strength(result: Plain) -> float:
        return 100 * float(result["baseline"][setting]["mrr"])

    return _against(results, setting, strength, f"baseline MRR, {setting}, points")


def _against(
    results: Sequence[Plain],
    setting: str,
    measure: Callable[[Plain], float | None],
    label: str,
    log: bool = False,
) -> Figure | None:
    lines: dict[str, list[tuple[float, float]]] = {}
    seeds = {result["seed"] for result in results}
    for result in results:
        x = measure(result) if result["status"] == "ok" and result["infused"] else None
        if x is not None:
            gain = 100 * result["significance"][setting]["mrr"]["delta"]
            name = f"{title(result)}, seed {result['seed']}" if len(seeds) > 1 else title(result)
            lines.setdefault(name, []).append((x, gain))
    if len({x for points in lines.values() for x, _ in points}) < 2:
        return None
    return _lines(lines, label, f"gain in MRR, {setting}, points", "", log)


def _lines(
    lines: dict[str, list[tuple[float, float]]], x_label: str, y_label: str, heading: str, log: bool = False
) -> Figure:
    figure, axes = new_figure(6, 4)
    for label, points in lines.items():
        axes.plot(*zip(*sorted(points), strict=True), "o-", label=label, markersize=4)
    if log:
        axes.set_xscale("log")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.set_title(heading, fontsize=10)
    axes.legend(fontsize=7)
    return figure


def title(result: Plain) -> str:
    """What a job is, for a heading or a legend."""
    recipe = "" if result["recipe"] == "default" else f", {result['recipe']}"
    return f"{result['dataset']['name']}, {result['kge_model']} + {network_name(result)}{recipe}"
