"""Where the gain of an infusion lies: by the grid's points, by degree, scale, and the baseline's strength."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mohone.core.config import Plain
from mohone.reporting.infusions import network_name, tried_points
from mohone.reporting.plotting import new_figure

Figure = Any  # Matplotlib has no types.


def grid_figure(result: Plain) -> Figure | None:
    """Gain of retrofitting on validation, before re-training, against beta; a line a number of neighbours.

    None where there was no such choice, or only of one that moves nothing.
    """
    grid = tried_points(result)
    if not grid:
        return None
    baseline = result["selection"]["valid_mrr_baseline"]
    lines = {
        f"{side}, {k} neighbours": [
            (point["beta"], 100 * (point["valid_mrr"] - baseline))
            for point in grid
            if (point["side"], point["neighbors"]) == (side, k)
        ]
        for side, k in dict.fromkeys((point["side"], point["neighbors"]) for point in grid)
    }
    return _lines(lines, "beta", "gain in validation MRR, points", title(result))


def degree_figure(result: Plain) -> Figure | None:
    """Gain in test MRR by the degree of the right answer, filtered and typed; None without an infusion."""
    if not result["infused"]:
        return None
    figure, axes = new_figure(6, 3.5)
    bins = list(result["baseline"]["filtered"]["degrees"])
    for i, setting in enumerate(("filtered", "typed")):
        before, after = (result[which][setting]["degrees"] for which in ("baseline", "infused"))
        gains = [100 * (after[b]["mrr"] - before[b]["mrr"]) if before[b] else 0.0 for b in bins]
        axes.bar([place + (i - 0.5) * 0.4 for place in range(len(bins))], gains, 0.4, label=setting)
    counts = [(result["baseline"]["filtered"]["degrees"][b] or {"n_ranked": 0})["n_ranked"] for b in bins]
    axes.set_xticks(range(len(bins)), [f"{b}\n{n:,}" for b, n in zip(bins, counts, strict=True)], fontsize=7)
    axes.set_xlabel("neighbours of the right answer in train; number of queries")
    axes.set_ylabel("gain in MRR, points")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.legend()
    axes.set_title(title(result), fontsize=10)
    return figure


def scale_figure(results: Sequence[Plain], setting: str) -> Figure | None:
    """Gain in test MRR against the scale s of the network embedding; None with fewer than two scales."""

    def scale(result: Plain) -> float | None:
        value = result["config"]["netemb"].get("scale")
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
