"""Where the gain of an infusion lies: by grid, degree, distance, relation, scale, baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mohone.core.config import Plain
from mohone.core.words import counted
from mohone.reporting.infusions import network_name, tried_points
from mohone.reporting.plotting import new_figure

Figure = Any  # Matplotlib has no types.
_LONGEST = 45  # Characters of a relation's name.


def grid_figure(result: Plain) -> Figure | None:
    """Gain of retrofitting on validation, before re-training, against beta; a line a number of neighbours.

    None where there was no such choice, or only of one that moves nothing.
    """
    grid = tried_points(result)
    if not grid:
        return None
    baseline = result["selection"]["valid_mrr_baseline"]
    lines = {
        f"{side}, {counted(k, 'neighbour')}": [
            (point["beta"], 100 * (point["valid_mrr"] - baseline))
            for point in grid
            if (point["side"], point["neighbors"]) == (side, k)
        ]
        for side, k in dict.fromkeys((point["side"], point["neighbors"]) for point in grid)
    }
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
    if not result["infused"] or kind not in result["baseline"]["filtered"]:
        return None
    figure, axes = new_figure(6, 3.5)
    bins = list(result["baseline"]["filtered"][kind])
    for i, setting in enumerate(("filtered", "typed")):
        before, after = (result[which][setting][kind] for which in ("baseline", "infused"))
        gains = [100 * (after[b]["mrr"] - before[b]["mrr"]) if before[b] else 0.0 for b in bins]
        axes.bar([place + (i - 0.5) * 0.4 for place in range(len(bins))], gains, 0.4, label=setting)
    counts = [(result["baseline"]["filtered"][kind][b] or {"n_ranked": 0})["n_ranked"] for b in bins]
    axes.set_xticks(range(len(bins)), [f"{b}\n{n:,}" for b, n in zip(bins, counts, strict=True)], fontsize=7)
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
    if not result["infused"] or "relations" not in result["baseline"]["filtered"]:
        return None
    before, after = (result[which]["filtered"]["relations"] for which in ("baseline", "infused"))
    total = sum(each["n_ranked"] for each in before.values())
    own = {name: 100 * (after[name]["mrr"] - before[name]["mrr"]) for name in before}
    added = {name: gain * before[name]["n_ranked"] / total for name, gain in own.items()}
    order = sorted(added, key=lambda name: (-added[name], name))
    gains = [name for name in order if added[name] > 0][:most]
    losses = [name for name in order if added[name] < 0][-most:]
    shown = [*gains, *losses]
    if not shown:
        return None
    figure, axes = new_figure(8, 1.2 + 0.3 * len(shown))
    axes.barh(range(len(shown)), [added[name] for name in shown])
    queries = {name: counted(before[name]["n_ranked"], "query", "queries") for name in shown}
    names = [f"{_short(name)}  ({own[name]:+.1f}, {queries[name]})" for name in shown]
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
