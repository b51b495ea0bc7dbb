"""What whole jobs cost by the size of their graph: `python -m benchmarks.by_size JOB... --out FOLDER`.

The jobs are folders of `mohone.run`, each on another graph of `benchmarks.planted`, with the same settings.
It leaves `by_size.md` (seconds and memory of each stage, and what came out) and `by_size.png` in FOLDER.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.text import MISSING, Record, number
from mohone.core.files import read_json, write_text
from mohone.reporting.markdown import table
from mohone.reporting.plotting import new_figure, save_figure
from mohone.reporting.results import RESULT

STAGES = {
    "netemb": "network embedding",
    "baseline": "training",
    "infusion": "evidence",
    "evaluation": "evaluation",
}
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.by_size", description=__doc__)
    parser.add_argument("jobs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    results = [read_json(job / RESULT) for job in given.jobs]
    results.sort(key=lambda result: int(result["dataset"]["n_entities"]))
    text = page(results)
    write_text(given.out / "by_size.md", text)
    print(text)
    draw(results, given.out / "by_size.png")


def page(results: Sequence[Record]) -> str:
    """The tables: what each stage cost on each graph, and what came out."""
    header = ["", *(_name(result) for result in results)]
    costs = [[title, *(_costs(result, stage) for result in results)] for stage, title in STAGES.items()]
    return "\n".join(
        [
            "# What a job costs by the size of its graph\n",
            "Seconds of the processor, seconds by the clock, and the most GB that the process had held by",
            f"then; {MISSING}: not measured.\n",
            table(header, costs),
            "\nFiltered MRR among all entities, of the test triples:\n",
            table(
                header,
                [[title, *(number(of(result)) for result in results)] for title, of in _FIGURES.items()],
            ),
            "",
        ]
    )


def draw(results: Sequence[Record], path: Path) -> None:
    """Seconds of the processor (or else by the clock) and, where known, GB of each stage, by entities."""
    panels = [("seconds", ("cpu_seconds", "seconds")), ("GB", ("peak_gb",))]
    panels = [panel for panel in panels if any(_points(results, stage, panel[1]) for stage in STAGES)]
    figure, axes = new_figure(4.5 * len(panels), 3.6, len(panels))
    for axis, (label, costs) in zip(np.atleast_1d(axes), panels, strict=True):
        for (stage, title), color in zip(STAGES.items(), _COLORS, strict=True):
            if points := _points(results, stage, costs):
                axis.plot(*zip(*points, strict=True), "o-", color=color, label=title)
        low, high = _n(results[0]), _n(results[-1])
        bottom = min(y for stage in STAGES for _, y in _points(results, stage, costs)) / 2
        axis.plot([low, high], [bottom, bottom * high / low], ":", color="grey", label="linear")
        axis.set(xscale="log", yscale="log", xlabel="entities", ylabel=label)
        axis.legend(fontsize=8)
    save_figure(figure, path)


def _points(results: Sequence[Record], stage: str, costs: Sequence[str]) -> list[tuple[int, float]]:
    return [(_n(result), found) for result in results if (found := _cost(result, stage, *costs))]


def _n(result: Record) -> int:
    return int(result["dataset"]["n_entities"])


def _name(result: Record) -> str:
    millions = (result["dataset"][key] / 1e6 for key in ("n_entities", "n_train"))
    return "{:.3g} M entities, {:.3g} M triples".format(*millions)


def _cost(result: Record, stage: str, *costs: str) -> float | None:
    """The first of these that is known of a stage."""
    found = ((result.get(cost) or {}).get(stage) for cost in costs)
    return next((float(value) for value in found if value), None)


def _costs(result: Record, stage: str) -> str:
    found = [_cost(result, stage, cost) for cost in ("cpu_seconds", "seconds", "peak_gb")]
    return ", ".join(
        MISSING if value is None else number(value, unit)
        for value, unit in zip(found, (" s", " s", " GB"), strict=True)
    )


def _mrr(*keys: str) -> Callable[[Record], float | None]:
    def read(result: Record) -> float | None:
        value = result
        for key in (*keys, "filtered", "mrr"):
            value = value.get(key) or {}
        return float(value) if value else None

    return read


_FIGURES = {
    "the model alone": _mrr("baseline"),
    "with the frequency of answers alone": _mrr("parts", "frequency", "figures"),
    "with evidence": _mrr("infused"),
}


if __name__ == "__main__":
    main()
