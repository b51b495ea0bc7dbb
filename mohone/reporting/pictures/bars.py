"""Bar charts of a group of results: each model's baseline and infused figures side by side."""

from __future__ import annotations

from typing import Any

from mohone.evaluation.settings import TESTED
from mohone.reporting.cells import MarkedNumber
from mohone.reporting.groups import ResultGroup
from mohone.reporting.labels import label
from mohone.reporting.plotting import new_figure


def bar_figure(group: ResultGroup, setting: str, metric: str) -> Any:
    """The models of the group, in points; missing cells have no bar."""
    models, columns = group.models, group.columns
    width = 0.8 / (1 + len(columns))
    figure, axes = new_figure(1.5 + 1.1 * len(models), 3.5)
    series = {"Baseline": [group.baseline(model, setting, metric) for model in models]}
    for column in columns:
        series[f"+{column.label}"] = [group.cell(model, column).infused(setting, metric) for model in models]
    for i, (name, numbers) in enumerate(series.items()):
        bars = axes.bar(
            [place + (i - len(columns) / 2) * width for place in range(len(models))],
            [0.0 if each is None else 100 * each.value for each in numbers],
            width,
            yerr=[0.0 if each is None else 100 * (each.spread or 0.0) for each in numbers],
            label=name,
        )
        axes.bar_label(bars, [_mark(each) for each in numbers], fontsize=8)
    axes.set_xticks(range(len(models)), [label(model) for model in models])
    axes.set_ylabel(f"{TESTED[metric].label}, {setting}")
    axes.set_title(f"{group.title}\n* p < 0.05", fontsize=8)
    axes.legend(fontsize=8, ncols=len(series), loc="lower center")
    return figure


def _mark(each: MarkedNumber | None) -> str:
    return "*" if each is not None and each.star else ""
