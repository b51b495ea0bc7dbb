"""Measurements looked up and compared."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]


def find(records: list[Record], kind: str, model: str, objective: str | None = None) -> Record | None:
    """The record of this measurement; None: it was not made."""
    for record in records:
        if (record["kind"], record["model"], record.get("objective")) == (kind, model, objective):
            return record
    return None


def value(record: Record | None, key: str) -> float | None:
    """A figure of a record's result; None where there is none."""
    if record is None or "result" not in record:
        return None
    found: float = record["result"][key]
    return found


def ratio(above: float | None, below: float | None) -> float | None:
    """`above / below`; None where either is missing."""
    return above / below if above and below else None


def models_of(records: list[Record]) -> list[str]:
    """The models of the records, in their order."""
    return list(dict.fromkeys(record["model"] for record in records))


def all_ratios(records: list[Record]) -> dict[str, dict[str, float]]:
    """Every comparison that both sides of were measured, by name and model; over 1 is good, under floors not.

    - `epoch`: PyKEEN's seconds over ours; `scored`: our scored candidates a second over PyKEEN's.
    - `evaluate`: PyKEEN's seconds over ours.
    - `floor_epoch`, `floor_evaluate`: our seconds over those of the bare products.
    """
    found: dict[str, dict[str, float]] = {}
    for model in models_of(records):
        sampled = [find(records, f"{side}_train", model, "negative_sampling") for side in ("ours", "pykeen")]
        against_all = [find(records, f"{side}_train", model, "one_vs_all") for side in ("ours", "floor")]
        ours, pykeen, floor = (
            value(find(records, f"{side}_evaluate", model), "evaluate_seconds")
            for side in ("ours", "pykeen", "floor")
        )
        epoch, scored = "epoch_seconds", "scored_per_second"
        compared = {
            "epoch": ratio(value(sampled[1], epoch), value(sampled[0], epoch)),
            "scored": ratio(value(sampled[0], scored), value(sampled[1], scored)),
            "evaluate": ratio(pykeen, ours),
            "floor_epoch": ratio(value(against_all[0], epoch), value(against_all[1], epoch)),
            "floor_evaluate": ratio(ours, floor),
        }
        for name, number in compared.items():
            if number is not None:
                found.setdefault(name, {})[model] = number
    return found
