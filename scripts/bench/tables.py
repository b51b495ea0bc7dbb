"""The page of results: training, evaluation, floors, time to quality, and what failed."""

from __future__ import annotations

from typing import Any

from bench.figures import MISSING, number, times
from bench.plan import SHARED_NEGATIVES
from bench.ratios import Record, find, models_of, value
from mohone.reporting.markdown import table

_NOTES = """\
How to read it.

- *Epoch*: one pass over the train split, scaled from the timed steps.
- *Scored*: millions of (query, candidate) scores a second that enter the loss. A triple has more of them in
  ours ({shared} shared negatives and the batch's other answers on each side) than in PyKEEN ({negatives}
  negatives on both sides together), so both columns are needed.
- Ours has the softmax loss, and for TransR runs of 32 triples of one relation; PyKEEN has its default loss of
  each model, no regulariser, and our optimiser.
- *Evaluation*: ours ranks the whole test split in three settings (filtered, typed, typed_train), the making
  of the indices included; PyKEEN's is filtered alone, on a straight line through two samples of at most
  {pykeen_test} test triples, with the best of three batch sizes.
- *Peak*: the most memory of the measurement's process, Python and libraries included.
"""


def page(report: dict[str, Any]) -> str:
    """All tables, as Markdown."""
    records, options = report["measurements"], report["options"]
    name = options["dataset"] or options["dataset_folder"]
    parts = [
        f"# Benchmark on {name}, dim {options['dim']}\n",
        _machine(report["machine"]),
        _section("Training", training(records, report["ratios"])),
        _section("Evaluation", evaluation(records, report["ratios"])),
        _section("Floors of one_vs_all", floors(records, report["ratios"])),
        _section("Lightning's share of a step", lightning(records)),
        _section("Time to quality", quality(records)),
        _section("What failed", failures(records)),
        _NOTES.format(**options, shared=SHARED_NEGATIVES),
    ]
    return "\n".join(part for part in parts if part)


def training(records: list[Record], ratios: dict[str, dict[str, float]]) -> str:
    """Epochs, scored candidates and memory of both sides; empty where none was measured."""
    ours_header = ("model", "objective", "epoch", "scored", "peak")
    header = (*ours_header, "PyKEEN: epoch", "scored", "peak", "epoch: times quicker", "scored: times more")
    rows = []
    for model in models_of(records):
        for objective in ("negative_sampling", "one_vs_all"):
            ours, pykeen = (find(records, f"{side}_train", model, objective) for side in ("ours", "pykeen"))
            if ours is None and pykeen is None:
                continue
            compared = [ratios.get(key, {}).get(model) if pykeen else None for key in ("epoch", "scored")]
            rows.append((model, objective, *_trained(ours), *_trained(pykeen), *map(times, compared)))
    return table(header, rows) if rows else ""


def evaluation(records: list[Record], ratios: dict[str, dict[str, float]]) -> str:
    """Seconds for the whole test split; empty where none was measured."""
    ours_header = ("model", "seconds", "peak", "products alone", "ours / products")
    header = (*ours_header, "PyKEEN: seconds", "peak", "batch", "times quicker")
    rows = []
    for model in models_of(records):
        ours, pykeen, floor = (find(records, f"{s}_evaluate", model) for s in ("ours", "pykeen", "floor"))
        if ours is None and pykeen is None and floor is None:
            continue
        batch = value(pykeen, "batch_size")
        rows.append(
            (
                model,
                *_timed(ours, "evaluate_seconds"),
                _cell(floor, "evaluate_seconds", " s"),
                times(ratios.get("floor_evaluate", {}).get(model)),
                *_timed(pykeen, "evaluate_seconds"),
                MISSING if batch is None else str(batch),
                times(ratios.get("evaluate", {}).get(model)),
            )
        )
    return table(header, rows) if rows else ""


def floors(records: list[Record], ratios: dict[str, dict[str, float]]) -> str:
    """One epoch beside its matrix products; empty where none was measured."""
    rows = []
    for model in models_of(records):
        ours, floor = (find(records, f"{side}_train", model, "one_vs_all") for side in ("ours", "floor"))
        if floor is not None:
            cells = (_cell(each, "epoch_seconds", " s") for each in (ours, floor))
            rows.append((model, *cells, times(ratios.get("floor_epoch", {}).get(model))))
    return table(("model", "epoch", "products alone", "ours / products"), rows) if rows else ""


def lightning(records: list[Record]) -> str:
    """Steps with and without Lightning; empty where none was measured."""
    rows = [
        (
            record["model"],
            record["objective"],
            _cell(record, "plain_step_ms", " ms"),
            _cell(record, "lightning_step_ms", " ms"),
            _cell(record, "lightning_percent", " %"),
        )
        for record in records
        if record["kind"] == "lightning"
    ]
    return table(("model", "objective", "plain loop", "Lightning", "share"), rows) if rows else ""


def quality(records: list[Record]) -> str:
    """When each training reached its target; empty where none was measured."""
    header = (
        "model",
        "objective",
        "filter",
        "target MRR",
        "reached",
        "MRR",
        "epoch",
        "training",
        "with validation",
    )
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
    return table(header, rows) if rows else ""


def failures(records: list[Record]) -> str:
    """What failed and why; empty where nothing did."""
    lines = [f"- {describe(record)}: {record['failed']}\n" for record in records if "failed" in record]
    return "".join(lines)


def describe(record: Record) -> str:
    """The name of a measurement."""
    return " ".join(filter(None, (record["kind"], record["model"], record.get("objective"))))


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}" if body else ""


def _machine(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {found}" for name, found in machine["versions"].items() if found)
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['torch_threads']} threads of torch, "
        f"Python {machine['python']}, {versions}; {machine['date']}.\n"
    )


def _cell(record: Record | None, key: str, unit: str = "") -> str:
    return "failed" if record is not None and "failed" in record else number(value(record, key), unit)


def _timed(record: Record | None, key: str) -> tuple[str, str]:
    peak = value(record, "peak_mb")
    return _cell(record, key, " s"), number(peak and peak / 1e3, " GB")


def _trained(record: Record | None) -> tuple[str, str, str]:
    seconds, peak = _timed(record, "epoch_seconds")
    scored = value(record, "scored_per_second")
    return seconds, number(scored and scored / 1e6, " M/s"), peak
