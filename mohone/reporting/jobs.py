"""A job's result in the terminal, and the table of jobs that a sweep shows: a row for each."""

from __future__ import annotations

from pathlib import Path

from mohone.core.config import Plain
from mohone.evaluation.settings import TESTED, settings_in
from mohone.reporting.infusions import chosen, network_name, parts_of
from mohone.reporting.markdown import table
from mohone.reporting.results import is_gain

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
    A star marks a gain with p < 0.05. A failed job has a row that says so; of one that was stopped `valid` is
    the best that it had reached.
    """
    rows = [_row(path.parent.name, result, setting) for path, result in results]
    return f"Link prediction on test, {setting} (MRR unless named)\n\n{table(_HEADER, rows)}"


def _row(job: str, result: Plain, setting: str) -> tuple[str, ...]:
    head = (job, result["dataset"]["name"], _model(result), network_name(result), str(result["seed"]))
    if result["status"] != "ok":
        reached = f"{result['reached']['valid_mrr']:.4f}" if result.get("reached") else ""
        return (*head, reached, result["status"], *[""] * (len(_HEADER) - len(head) - 2))
    if setting not in result["baseline"]:
        return (*head, "", "-", *[""] * (len(_HEADER) - len(head) - 2))
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
        chosen(result),
    )


def _model(result: Plain) -> str:
    """The model and how it was trained."""
    recipe = result["recipe"] if result["recipe"] != "default" else None
    how = ", ".join(str(part) for part in (result["training"], recipe) if part)
    return f"{result['kge_model']} ({how})" if how else str(result["kge_model"])


def star(test: Plain) -> str:
    """A mark for such a gain."""
    return "*" if is_gain(test) else ""


def job_table(result: Plain) -> list[str]:
    """Baseline, infused, gain and p-value of one job, as lines for a terminal."""
    cell = f"{result['dataset']['name']}, {_model(result)}, {result['netemb']}"
    lines = [f"{cell}, seed {result['seed']}: link prediction on the test triples"]
    lines.append(f"{'':24}{'baseline':>10}{'infused':>10}{'gain':>9}{'p':>10}")
    lines += [
        _job_row(result, setting, metric) for setting in settings_in(result["baseline"]) for metric in TESTED
    ]
    for name, part in parts_of(result).items():
        lines += _part_rows(name, part)
    if result["selection"]:
        lines.append(f"chosen on validation: {chosen(result)}")
    return lines


def _part_rows(name: str, part: Plain) -> list[str]:
    """The gain in filtered MRR in two: that of a part alone, and what the whole gains beyond it."""
    alone, beyond = (part[which]["filtered"]["mrr"] for which in ("gain", "beyond"))
    reached = part["figures"]["filtered"]["mrr"]
    return [
        f"{'of it ' + name + ' alone':24}{'':10}{reached:10.4f}{_gain(alone)}",
        f"{'and beyond ' + name:24}{'':20}{_gain(beyond)}",
    ]


def _gain(test: Plain) -> str:
    return f"{test['delta']:+9.4f}{test['p_value']:10.2g}{star(test)}"


def _job_row(result: Plain, setting: str, metric: str) -> str:
    before = result["baseline"][setting][metric]
    row = f"{setting + ' ' + metric:24}{before:10.4f}"
    if result["infused"] is None:
        return row
    test = result["significance"][setting][metric]
    return f"{row}{result['infused'][setting][metric]:10.4f}{_gain(test)}"
