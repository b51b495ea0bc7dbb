"""Tables as Markdown and LaTeX; cells as rows of data, for CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mohone.core.config import Plain
from mohone.evaluation.settings import SETTINGS
from mohone.reporting import markdown
from mohone.reporting.cells import Number
from mohone.reporting.reference import PAPER
from mohone.reporting.tables import METRICS, PAPERS_SETTING, Table, Value

MISSING = "-"
LEGEND = (
    "In points. *: better than the baseline, beside node2vec better than that, with p < 0.05 for each seed. "
    "°: validation chose no infusion. †: another seed's job failed. -: no result."
)
COLUMNS = (
    "dataset",
    "recipe",
    "training",
    "model",
    "netemb",
    "infusion",
    "seed",
    "setting",
    "metric",
    "baseline",
    "infused",
    "gain",
    "p_value",
    "paper_baseline",
    "paper_infused",
    "status",
    "folder",
)
Results = Sequence[tuple[Path, Plain]]


class _Marks(NamedTuple):
    """How a format writes what belongs to a figure."""

    star: str
    unmoved: str
    partial: str
    plus_minus: str


_MARKDOWN = _Marks("*", "°", "†", "±")
_LATEX = _Marks(r"$^{\star}$", r"$^{\circ}$", r"$^{\dagger}$", r"$\pm$")


def to_markdown(tables: Sequence[Table]) -> str:
    """Tables under headings, in points."""
    return f"{LEGEND}\n\n" + "\n".join(f"### {table.title}\n\n{markdown_table(table)}" for table in tables)


def markdown_table(table: Table) -> str:
    """One table without its title."""
    return markdown.table(table.header, [[_text(value, _MARKDOWN) for value in row] for row in table.rows])


def to_latex(tables: Sequence[Table]) -> str:
    """Tables in the paper's form, for `booktabs`."""
    return f"% {LEGEND}\n" + "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(cells)} \\\\"

    rows = [line([_escaped(_text(value, _LATEX)) for value in row]) for row in table.rows]
    columns = "l" + "r" * (len(table.header) - 1)
    parts = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    parts += [line([_escaped(name) for name in table.header]), r"\midrule", *rows, r"\bottomrule"]
    parts += [r"\end{tabular}", rf"\caption{{{_escaped(table.title)}}}", r"\end{table}"]
    return "\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return text.replace("%", r"\%").replace("_", r"\_").replace("&", r"\&")


def _text(value: Value, marks: _Marks) -> str:
    if not isinstance(value, Number):
        return value or MISSING
    text = {
        "points": f"{100 * value.value:.1f}",
        "gain": f"{100 * value.value:+.1f}",
        "percent": f"{100 * value.value:+.1f}%",
    }[value.kind]
    if value.spread is not None:
        text += f" {marks.plus_minus} {100 * value.spread:.1f}"
    return text + marks.star * value.star + marks.unmoved * value.unmoved + marks.partial * value.partial


def to_csv(results: Results) -> str:
    """A row for each job, setting and metric, with p-values and the paper's figures; shares, not points."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows_of(results))
    return out.getvalue()


def rows_of(results: Results) -> list[dict[str, Any]]:
    """The rows of the CSV form, as plain values; a failed job has one row."""
    return [row for path, result in results for row in _rows(str(path.parent), result)]


def _rows(folder: str, result: Plain) -> Iterator[dict[str, Any]]:
    job = {key: result[key] for key in ("recipe", "training", "netemb", "infusion", "seed", "status")}
    job |= {"dataset": result["dataset"]["name"], "model": result["kge_model"], "folder": folder}
    if result["status"] != "ok":
        yield job
        return
    for setting in SETTINGS:
        for metric in METRICS:
            row = {**job, "setting": setting, "metric": metric}
            row["baseline"] = result["baseline"][setting][metric]
            if result["infused"]:
                test = result["significance"][setting][metric]
                row |= {"infused": result["infused"][setting][metric], "gain": test["delta"]}
                row["p_value"] = test["p_value"]
            if setting == PAPERS_SETTING:
                theirs = PAPER.get(job["dataset"], {}).get(metric, {}).get(job["model"], {})
                row |= {
                    f"paper_{name}": theirs[key] / 100
                    for name, key in (("baseline", "baseline"), ("infused", job["netemb"]))
                    if key in theirs
                }
            yield row
