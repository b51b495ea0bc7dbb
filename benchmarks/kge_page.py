"""Models: figures compared, the page of tables, and the picture of our times beside PyKEEN's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import text
from benchmarks.text import Record, number
from mohone.core.errors import ConfigError
from mohone.reporting.markdown import table
from mohone.reporting.plotting import new_figure, save_figure

# What is divided by what: kinds, the figure of both, the objective. Over 1 is good, but not of evidence, nor
# beside a floor.
RATIOS: dict[str, tuple[str, str, str, str | None]] = {
    "epoch": ("pykeen_train", "ours_train", "epoch_seconds", "negative_sampling"),
    "scored": ("ours_train", "pykeen_train", "scored_per_second", "negative_sampling"),
    "evaluate": ("pykeen_evaluate", "ours_evaluate", "evaluate_seconds", None),
    "floor_epoch": ("ours_train", "floor_train", "epoch_seconds", "one_vs_all"),
    "evidence": ("ours_evidence", "ours_evaluate", "evaluate_seconds", None),
    "floor_evaluate": ("ours_evaluate", "floor_evaluate", "evaluate_seconds", None),
}
# A column: its header, the kind of the measurement, its figure, by what that is divided, the unit.
# Or its header and a ratio.
_Column = tuple[str, str, str, float, str] | tuple[str, str]
_TRAINING: tuple[_Column, ...] = (
    ("epoch", "ours_train", "epoch_seconds", 1, " s"),
    ("scored", "ours_train", "scored_per_second", 1e6, " M/s"),
    ("peak", "ours_train", "peak_mb", 1e3, " GB"),
    ("PyKEEN: epoch", "pykeen_train", "epoch_seconds", 1, " s"),
    ("scored", "pykeen_train", "scored_per_second", 1e6, " M/s"),
    ("peak", "pykeen_train", "peak_mb", 1e3, " GB"),
    ("epoch: times quicker", "epoch"),
    ("scored: times more", "scored"),
)
_EVALUATION: tuple[_Column, ...] = (
    ("seconds", "ours_evaluate", "evaluate_seconds", 1, " s"),
    ("peak", "ours_evaluate", "peak_mb", 1e3, " GB"),
    ("products alone", "floor_evaluate", "evaluate_seconds", 1, " s"),
    ("ours / products", "floor_evaluate"),
    ("PyKEEN: seconds", "pykeen_evaluate", "evaluate_seconds", 1, " s"),
    ("peak", "pykeen_evaluate", "peak_mb", 1e3, " GB"),
    ("batch", "pykeen_evaluate", "batch_size", 1, ""),
    ("times quicker", "evaluate"),
)
_EVIDENCE: tuple[_Column, ...] = (
    ("experts and fit", "ours_evidence", "fit_seconds", 1, " s"),
    ("evaluation", "ours_evidence", "evaluate_seconds", 1, " s"),
    ("the bare model's", "ours_evaluate", "evaluate_seconds", 1, " s"),
    ("evidence / bare", "evidence"),
    ("peak", "ours_evidence", "peak_mb", 1e3, " GB"),
)
_FLOORS: tuple[_Column, ...] = (
    ("epoch", "ours_train", "epoch_seconds", 1, " s"),
    ("products alone", "floor_train", "epoch_seconds", 1, " s"),
    ("ours / products", "floor_epoch"),
)
_LIGHTNING: tuple[_Column, ...] = (
    ("plain loop", "lightning", "plain_step_ms", 1, " ms"),
    ("Lightning", "lightning", "lightning_step_ms", 1, " ms"),
    ("share", "lightning", "lightning_percent", 1, " %"),
)
_NOTES = """\
How to read it.

- *Epoch*: one pass over the train split, scaled from the timed steps.
- *Scored*: millions of (query, candidate) scores a second that enter the loss. A triple has more of them in
  ours (512 shared negatives and the batch's other answers on each side) than in PyKEEN ({negatives}
  negatives on both sides together), so both columns are needed.
- Ours has the softmax loss, and for TransR runs of 32 triples of one relation; PyKEEN has its default loss of
  each model, no regulariser, and our optimiser.
- *Evaluation*: ours ranks the whole test split in three settings (filtered, typed, typed_train), the making
  of the indices included; PyKEEN's is filtered alone, on a straight line through two samples of at most
  {pykeen_test} test triples, with the best of three batch sizes.
- *Peak*: the most memory of the measurement's process, Python and libraries included.
"""


def page(report: Record) -> str:
    """All tables, as Markdown; those of which nothing was measured are left out."""
    records, options = report["measurements"], report["options"]
    sections = {
        "Training": _compared(records, _TRAINING, ("ours_train", "pykeen_train")),
        "Evaluation": _compared(records, _EVALUATION, ("ours_evaluate", "pykeen_evaluate", "floor_evaluate")),
        "Evidence": _compared(records, _EVIDENCE, ("ours_evidence",)),
        "Floors of one_vs_all": _compared(records, _FLOORS, ("floor_train",)),
        "Lightning's share of a step": _compared(records, _LIGHTNING, ("lightning",)),
        "Time to quality": _quality(records),
    }
    title = f"Benchmark on {options['dataset_folder']}, dim {options['dim']}"
    return text.page(title, report["machine"], sections, records, _NOTES.format(**options))


def find(records: list[Record], kind: str, model: str, objective: str | None) -> Record:
    """The record of this measurement; empty: it was not made."""
    for record in records:
        if (record["kind"], record["model"], record.get("objective")) == (kind, model, objective):
            return record
    return {}


def ratio(records: list[Record], name: str, model: str) -> float | None:
    """A comparison; None where one of its sides was not measured."""
    above, below, key, objective = RATIOS[name]
    figures = [find(records, kind, model, objective).get("result", {}).get(key) for kind in (above, below)]
    return figures[0] / figures[1] if all(figures) else None


def all_ratios(records: list[Record]) -> dict[str, dict[str, float]]:
    """Every comparison that both sides of were measured, by name and model."""
    found = {name: {model: ratio(records, name, model) for model in _models(records)} for name in RATIOS}
    known = {name: {model: x for model, x in of.items() if x is not None} for name, of in found.items()}
    return {name: of for name, of in known.items() if of}


def _models(records: list[Record]) -> list[str]:
    return list(dict.fromkeys(record["model"] for record in records))


def _compared(records: list[Record], columns: tuple[_Column, ...], kinds: tuple[str, ...]) -> str:
    """A row for each model and objective of these kinds; empty: there is none."""
    rows = dict.fromkeys((r["model"], r.get("objective")) for r in records if r["kind"] in kinds)
    has_objective = any(objective for _, objective in rows)
    header = ("model", *(["objective"] if has_objective else []), *(column[0] for column in columns))
    cells = [(*filter(None, row), *(_cell(records, column, *row) for column in columns)) for row in rows]
    return table(header, cells) if rows else ""


def _cell(records: list[Record], column: _Column, model: str, objective: str | None) -> str:
    if len(column) == 2:
        belongs = RATIOS[column[1]][3] == objective
        return number(ratio(records, column[1], model) if belongs else None, "x")
    _, kind, key, scale, unit = column
    record = find(records, kind, model, objective)
    if "failed" in record:
        return "failed"
    value = record["result"][key] if record else None
    return number(value if value is None or scale == 1 else value / scale, unit)


def _quality(records: list[Record]) -> str:
    """When each training reached its target."""
    header = ("model", "objective", "filter", "target MRR", "reached", "MRR", "epoch", "training")
    rows = [
        (
            record["model"],
            record["objective"],
            name,
            f"{record['result']['target']:.2f}",
            "yes" if outcome["reached"] else "no, best",
            f"{outcome['mrr']:.4f}",
            str(outcome["epoch"]),
            number(outcome["train_seconds"], " s"),
            number(outcome["total_seconds"], " s"),
        )
        for record in records
        if record["kind"] == "quality" and "result" in record
        for name, outcome in record["result"]["outcomes"].items()
    ]
    return table((*header, "with validation"), rows) if rows else ""


_SIDES = {"ours": ("Mohone", "#2a6fbb"), "pykeen": ("PyKEEN", "#c9772b")}
_PANELS = (
    ("A training epoch, negative sampling", "train", "negative_sampling", "epoch_seconds"),
    ("Evaluation of the test split", "evaluate", None, "evaluate_seconds"),
)


def draw(records: list[Record], path: Path) -> bool:
    """Write the picture, two bars for each model; False: matplotlib is not installed."""
    models = _models(records)
    try:
        figure, axes = new_figure(11, 1.5 + 0.55 * len(models), 2, same_y=True)
    except ConfigError:
        return False
    for axis, (title, kind, objective, key) in zip(axes, _PANELS, strict=True):
        axis.set(title=title, xlabel="seconds (logarithmic; shorter is better)", xscale="log")
        every: list[float] = []
        for offset, side in zip((-0.19, 0.19), _SIDES, strict=True):
            found = [find(records, f"{side}_{kind}", model, objective) for model in models]
            every += _bars(axis, [record.get("result", {}).get(key) for record in found], offset, side)
        axis.set_yticks(range(len(models)), models)
        axis.set_xlim(min(every, default=1.0) / 4, max(every, default=1.0) * 3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    save_figure(figure, path)
    return True


def _bars(axis: Any, seconds: list[float | None], offset: float, side: str) -> list[float]:
    """Bars with their seconds, which are returned; what failed or was not measured has none."""
    label, color = _SIDES[side]
    shown = {place + offset: each for place, each in enumerate(seconds) if each}
    bars = axis.barh(list(shown), list(shown.values()), height=0.38, color=color, label=label)
    axis.bar_label(bars, [number(each) for each in shown.values()], padding=2, fontsize=8)
    return list(shown.values())
