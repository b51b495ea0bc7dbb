"""One saved view of a sweep in Weights & Biases: its jobs, their gains, what goes with what, what matters.

    python scripts/wandb_dashboard.py ENTITY PROJECT SWEEP

`SWEEP` is the group that `logger=wandb` put the sweep's runs in: the last two parts of its folder's path.
It wants a key (`wandb login`), and the extra `wandb`; it prints the address of the view.
"""

from __future__ import annotations

import argparse
import sys

import wandb_workspaces.reports.v2 as panels
import wandb_workspaces.workspaces as views

FIGURES = (("filtered", "mrr"), ("filtered", "hits@10"), ("typed", "mrr"))
CHOSEN = (
    "choices.dataset",
    "choices.recipe",
    "choices.kge_model",
    "choices.netemb",
    "choices.infusion",
    "seed",
)
TARGET = "infused/filtered/mrr"
CURVES = ("netemb/train/loss", "baseline/train/loss", "baseline/valid/mrr", "retrofit/objective")


def dashboard(entity: str, project: str, sweep: str) -> views.Workspace:
    """The view, not yet saved."""
    return views.Workspace(
        entity=entity,
        project=project,
        name=f"sweep {sweep}",
        sections=[_gains(), _settings(), _curves()],
        runset_settings=views.RunsetSettings(
            filters=views.And(views.Metric("Group") == sweep),
            order=[views.Ordering(views.Summary(f"gain/{FIGURES[0][0]}/{FIGURES[0][1]}"), ascending=False)],
            pinned_columns=_columns(),
        ),
    )


def _columns() -> list[str]:
    """Of the table of runs, beside their names."""
    figures = [f"summary:{which}/filtered/mrr" for which in ("baseline", "infused", "gain", "p_value")]
    return ["run:displayName", *(f"config:{key}.value" for key in CHOSEN), *figures]


def _gains() -> views.Section:
    """Before, after and the difference, a bar a job."""
    bars = [
        panels.BarPlot(
            title=f"{which}, {setting} {metric}", metrics=[_summary(f"{which}/{setting}/{metric}")]
        )
        for setting, metric in FIGURES
        for which in ("baseline", "infused", "gain")
    ]
    strength = panels.ScatterPlot(
        title="gain against the baseline's strength",
        x=_summary("baseline/filtered/mrr"),
        y=_summary("gain/filtered/mrr"),
    )
    return views.Section(name="Gains", panels=[*bars, strength], is_open=True)


def _settings() -> views.Section:
    """Which settings go with a high MRR."""
    lines = panels.ParallelCoordinatesPlot(
        title="settings and MRR",
        columns=[
            *(panels.ParallelCoordinatesPlotColumn(panels.Config(key), display_name=key) for key in CHOSEN),
            *(
                panels.ParallelCoordinatesPlotColumn(_summary(key), display_name=key)
                for key in ("baseline/filtered/mrr", TARGET)
            ),
        ],
    )
    return views.Section(
        name="Settings", panels=[lines, panels.ParameterImportancePlot(with_respect_to=TARGET)], is_open=True
    )


def _curves() -> views.Section:
    """Of each stage over its own epochs."""
    plots = [panels.LinePlot(title=key, x=f"{key.split('/')[0]}/epoch", y=[key]) for key in CURVES]
    return views.Section(name="Curves", panels=plots)


def _summary(key: str) -> panels.SummaryMetric:
    return panels.SummaryMetric(key)


def main(arguments: list[str] | None = None) -> int:
    """Save the view; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("entity", "project", "sweep"):
        parser.add_argument(name)
    given = parser.parse_args(arguments)
    view = dashboard(given.entity, given.project, given.sweep)
    view.save()
    print(view.url)
    return 0


if __name__ == "__main__":
    sys.exit(main())
