"""Made-up results, whose every figure can be done by hand, and tables of them as they are written."""

import json
from pathlib import Path
from typing import Any

from mohone.evaluation.settings import SETTINGS
from mohone.reporting.formats import markdown_table
from mohone.reporting.results import read_results


def result(
    model: str = "transe",
    netemb: str = "shnb",
    before: float = 0.30,
    after: float | None = 0.32,
    p: float = 0.01,
    **changed: Any,
) -> dict[str, Any]:
    """A result with these figures for MRR and twice these for Hits@10, in all settings."""

    def figures(mrr: float) -> dict[str, Any]:
        return {setting: {"mrr": mrr, "hits@10": 2 * mrr} for setting in SETTINGS}

    gain = 0.0 if after is None else after - before
    tests = {"mrr": {"delta": gain, "p_value": p}, "hits@10": {"delta": 2 * gain, "p_value": p}}
    base: dict[str, Any] = {"schema": 1, "status": "ok", "error": None, "dataset": {"name": "fb15k237"}}
    base |= {"kge_model": model, "netemb": netemb, "infusion": "retrofit" if netemb != "none" else "none"}
    base |= {"training": "negative_sampling", "recipe": "paper", "seed": 0, "baseline": figures(before)}
    base["infused"] = None if after is None else figures(after)
    base["significance"] = None if after is None else dict.fromkeys(SETTINGS, tests)
    base["selection"] = {"beta": 0.2, "neighbors": 10}
    base["stages"] = {"baseline": {"key": model, "valid_mrr": 0.1}, "infusion": {"key": model + netemb}}
    return {**base, **changed}


def found(tmp_path: Path, *results: dict[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    for i, each in enumerate(results):
        (tmp_path / f"{i}").mkdir(parents=True)
        (tmp_path / f"{i}/result.json").write_text(json.dumps(each), encoding="utf-8")
    return read_results([tmp_path])


def written(table: Any) -> list[list[str]]:
    """The rows of a table as Markdown writes them."""
    lines = [line for line in markdown_table(table).splitlines()[2:] if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
