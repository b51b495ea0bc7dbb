"""Bar charts of a block: each model's baseline and infused figures side by side."""

from __future__ import annotations

from typing import Any

from mohone.reporting.cells import LABELS, Block, Number
from mohone.reporting.plotting import new_figure
from mohone.reporting.tables import METRICS


def bar_figure(block: Block, setting: str, metric: str) -> Any:
    """The models of the block, in points; missing cells have no bar."""
    ways = block.ways
    width = 0.8 / (1 + len(ways))
    figure, axes = new_figure(1.5 + 1.1 * len(block.models), 3.5)
    series = [("Baseline", [block.baseline(model, setting, metric) for model in block.models])]
    for way in ways:
        cells = [block.cells.get((model, way)) for model in block.models]
        series.append((f"+{way.label}", [cell.infused(setting, metric) if cell else None for cell in cells]))
    for i, (label, numbers) in enumerate(series):
        bars = axes.bar(
            [place + (i - len(ways) / 2) * width for place in range(len(block.models))],
            [0.0 if each is None else 100 * each.value for each in numbers],
            width,
            yerr=[0.0 if each is None else 100 * (each.spread or 0.0) for each in numbers],
            label=label,
        )
        axes.bar_label(bars, [_mark(each) for each in numbers], fontsize=8)
    axes.set_xticks(range(len(block.models)), [LABELS.get(model, model) for model in block.models])
    axes.set_ylabel(f"{METRICS[metric]}, {setting}")
    axes.set_title(f"{block.title}\n* p < 0.05", fontsize=8)
    axes.legend(fontsize=8, ncols=len(series), loc="lower center")
    return figure


def _mark(each: Number | None) -> str:
    return "*" if each is not None and each.star else ""
