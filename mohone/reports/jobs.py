"""The table of jobs: a row for each result, as a sweep shows it."""

from __future__ import annotations

from pathlib import Path

from mohone.config import Plain
from mohone.reports.markdown import table
from mohone.results import chosen_infusion, star, way_name

_HEADER = (
    "job",
    "data set",
    "model",
    "netemb",
    "seed",
    "valid",
    "baseline",
    "infused",
    "gain",
    "p",
    "Hits@10",
    "infused",
    "chosen",
)


def jobs_table(results: list[tuple[Path, Plain]], setting: str = "filtered") -> str:
    """One row for each job, named by its folder: MRR and Hits@10 before and after, gain and p-value.

    `valid` is the baseline's filtered MRR on validation, which also chose the infusion; the rest is on test.
    A star marks a gain with p < 0.05. A failed job has a row that says so.
    """
    rows = [_row(path.parent.name, result, setting) for path, result in results]
    return f"Link prediction on test, {setting} (MRR unless named)\n\n{table(_HEADER, rows)}"


def _row(job: str, result: Plain, setting: str) -> tuple[str, ...]:
    head = (job, result["dataset"]["name"], _model(result), way_name(result), str(result["seed"]))
    if result["status"] != "ok":
        return (*head, "", "failed", *[""] * (len(_HEADER) - len(head) - 2))
    before, after = result["baseline"][setting], result["infused"] and result["infused"][setting]
    baseline = (f"{result['stages']['baseline']['valid_mrr']:.4f}", f"{before['mrr']:.4f}")
    if not after:
        return (*head, *baseline, "", "", "", f"{before['hits@10']:.4f}", "", "")
    test = result["significance"][setting]["mrr"]
    return (
        *head,
        *baseline,
        f"{after['mrr']:.4f}{star(test)}",
        f"{test['delta']:+.4f}",
        f"{test['p_value']:.2g}",
        f"{before['hits@10']:.4f}",
        f"{after['hits@10']:.4f}",
        chosen_infusion(result["selection"]),
    )


def _model(result: Plain) -> str:
    """The model and how it was trained."""
    recipe = result["recipe"] if result["recipe"] != "default" else None
    how = ", ".join(part for part in (result["training"], recipe) if part)
    return f"{result['kge_model']} ({how})" if how else str(result["kge_model"])
