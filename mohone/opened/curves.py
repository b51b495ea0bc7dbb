"""What the stages of a finished job noted step by step, read from the store where it still has them."""

from __future__ import annotations

from pathlib import Path

from mohone.core.config import Plain
from mohone.core.files import read_json
from mohone.reporting.page.extras import Steps


def curves_of(result: Plain) -> dict[str, Steps]:
    """By stage, under the names that loggers know; none of a job that did not come to its end."""
    store = (result.get("config") or {}).get("store_dir")
    out: dict[str, Steps] = {}
    if not store:
        return out
    from mohone.experiment.stages.base import NOTES, Trained  # Torch takes seconds, which copies need not.

    for name, stage in (result.get("stages") or {}).items():
        folder = Path(str(store)) / name / stage["key"]
        try:
            notes = read_json(folder / NOTES)
        except (OSError, ValueError):
            continue
        out |= Trained(stage["key"], folder, notes, reused=True).curves
    return out
