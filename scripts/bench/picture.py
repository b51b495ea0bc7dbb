"""Our times and PyKEEN's as horizontal bars, by model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.figures import number
from bench.ratios import Record, find, models_of, value
from mohone.core.errors import ConfigError
from mohone.reporting.plotting import new_figure, save_figure

_SIDES = {"ours": "Mohone", "pykeen": "PyKEEN"}
_COLORS = {"ours": "#2a6fbb", "pykeen": "#c9772b"}


def draw(report: dict[str, Any], path: Path) -> bool:
    """Write the picture; False: matplotlib is not installed."""
    records = report["measurements"]
    models = models_of(records)
    try:
        figure, axes = new_figure(11, 1.5 + 0.55 * len(models), 2, same_y=True)
    except ConfigError:
        return False
    from matplotlib.patches import Patch

    for axis, (title, kind, objective, key) in zip(axes, _panels(), strict=True):
        axis.set(title=title, xlabel="seconds (logarithmic; shorter is better)", xscale="log")
        _bars(axis, records, models, (kind, objective, key))
    sides = [Patch(color=_COLORS[side], label=label) for side, label in _SIDES.items()]
    figure.legend(handles=sides, loc="outside lower center", ncols=len(sides), frameon=False)
    save_figure(figure, path)
    return True


def _panels() -> tuple[tuple[str, str, str | None, str], ...]:
    return (
        ("A training epoch, negative sampling", "train", "negative_sampling", "epoch_seconds"),
        ("Evaluation of the test split", "evaluate", None, "evaluate_seconds"),
    )


def _bars(axis: Any, records: list[Record], models: list[str], what: tuple[str, str | None, str]) -> None:
    """Two bars for each model, with their seconds; what failed or was not measured has none."""
    kind, objective, key = what
    height = 0.38
    every: list[float] = []
    for i, side in enumerate(_SIDES):
        seconds = [value(find(records, f"{side}_{kind}", model, objective), key) for model in models]
        places = [place + (i - 0.5) * height for place in range(len(models))]
        shown = [(place, each) for place, each in zip(places, seconds, strict=True) if each]
        if shown:
            bars = axis.barh(*zip(*shown, strict=True), height=height, color=_COLORS[side])
            axis.bar_label(bars, [number(each) for _, each in shown], padding=2, fontsize=8)
            every += [each for _, each in shown]
    axis.set_yticks(range(len(models)), models)
    if every:
        axis.set_xlim(min(every) / 4, max(every) * 3)
    if not axis.yaxis_inverted():
        axis.invert_yaxis()
    axis.spines[["top", "right"]].set_visible(False)
