"""Tables as Markdown and LaTeX; cells as rows of data, for CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mohone.core.config import Plain
from mohone.evaluation.settings import TESTED, settings_in
from mohone.reporting import markdown
from mohone.reporting.cells import Entry, MarkedNumber, Table
from mohone.reporting.reference import PAPER
from mohone.reporting.tables import PAPERS_SETTING

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
    """How a format writes the marks beside a number."""

    star: str
    unmoved: str
    partial: str
    above: str
    plus_minus: str


_MARKDOWN = _Marks("*", "°", "†", "‡", "±")
_LATEX = _Marks(r"$^{\star}$", r"$^{\circ}$", r"$^{\dagger}$", r"$^{\ddagger}$", r"$\pm$")


def to_markdown(tables: Sequence[Table]) -> str:
    """Tables under headings, in points."""
    parts = (f"### {' '.join(table.title.splitlines())}\n\n{markdown_table(table)}" for table in tables)
    return f"{LEGEND}\n\n" + "\n".join(parts)


def markdown_table(table: Table) -> str:
    """One table without its title, its note below."""
    rows = [[_text(entry, _MARKDOWN) for entry in row] for row in table.rows]
    return markdown.table(table.header, rows) + (f"\n{table.note}\n" if table.note else "")


def to_latex(tables: Sequence[Table]) -> str:
    """Tables in the paper's form, for `booktabs`."""
    return f"% {LEGEND}\n" + "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(cells)} \\\\"

    def text(entry: Entry) -> str:
        return escaped(entry) if isinstance(entry, str) else _text(entry, _LATEX).replace("%", r"\%")

    rows = [line([text(entry) for entry in row]) for row in table.rows]
    columns = "l" + "r" * (len(table.header) - 1)
    caption = f"{table.title}. {table.note}" if table.note else table.title
    parts = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    parts += [line([escaped(name) for name in table.header]), r"\midrule", *rows, r"\bottomrule"]
    parts += [r"\end{tabular}", rf"\caption{{{escaped(caption)}}}", r"\end{table}"]
    return "\n".join(parts) + "\n"


_SPECIAL = str.maketrans(
    {char: f"\\{char}" for char in "%_&#${}"}
    | {"\n": " ", "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def escaped(text: str) -> str:
    r"""A name as LaTeX shows it.

    >>> print(escaped("my_graph #2 {50%}"))
    my\_graph \#2 \{50\%\}
    """
    return text.translate(_SPECIAL)


def _text(entry: Entry, marks: _Marks) -> str:
    if not isinstance(entry, MarkedNumber):
        return entry or MISSING
    text = {
        "points": f"{100 * entry.value:.1f}",
        "gain": f"{100 * entry.value:+.1f}",
        "percent": f"{100 * entry.value:+.1f}%",
    }[entry.kind]
    if entry.spread is not None:
        text += f" {marks.plus_minus} {100 * entry.spread:.1f}"
    text += marks.star * entry.star + marks.above * entry.above
    return text + marks.unmoved * entry.unmoved + marks.partial * entry.partial


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
    for setting in settings_in(result["baseline"]):
        for metric in TESTED:
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
