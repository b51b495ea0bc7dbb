"""`python -m mohone.report FOLDER...`: tables and charts of all results below the folders."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mohone.core.command_line import Parser
from mohone.core.errors import MohoneError
from mohone.core.files import write_text
from mohone.core.terminal import prepare_terminal
from mohone.evaluation.settings import ALL_SETTINGS, TESTED
from mohone.reporting.ablation import ablation_tables
from mohone.reporting.cells import Table
from mohone.reporting.datasets import Results
from mohone.reporting.formats import rows_of, to_csv, to_latex, to_markdown
from mohone.reporting.groups import group_results
from mohone.reporting.jobs import jobs_table
from mohone.reporting.pictures.bars import bar_figure
from mohone.reporting.plotting import save_figure
from mohone.reporting.results import read_results
from mohone.reporting.tables import tables_of


class Request(NamedTuple):
    """What is to be written.

    Attributes:
        results: all.
        setting: of the table of jobs.
        against_paper: show all cells of the paper, and its figures beside?
    """

    results: Results
    setting: str
    against_paper: bool

    @property
    def tables(self) -> list[Table]:
        """The paper's, of all groups of results."""
        groups = group_results(self.results)
        return [table for group in groups for table in tables_of(group, self.against_paper)]

    @property
    def ablation(self) -> list[Table]:
        """By experts, of all models."""
        return ablation_tables(self.results)

    @property
    def jobs(self) -> str:
        """The table of jobs."""
        return jobs_table(self.results, self.setting)


class Form(NamedTuple):
    """A form of text that results can be written in.

    Attributes:
        file: the name of its file in a folder that is written to.
        about: for the help.
        write: the text.
    """

    file: str
    about: str
    write: Callable[[Request], str]


def _json(asked: Request) -> str:
    return json.dumps(rows_of(asked.results), indent=1, ensure_ascii=False) + "\n"


FORMS = {
    "jobs": Form("jobs.md", "a row for each (default)", lambda asked: asked.jobs),
    "markdown": Form(
        "tables.md", "with the paper's tables", lambda asked: f"{asked.jobs}\n{to_markdown(asked.tables)}"
    ),
    "latex": Form("tables.tex", "these alone", lambda asked: to_latex(asked.tables)),
    "ablation": Form(
        "ablation.md", "what each expert of evidence is worth", lambda asked: to_markdown(asked.ablation)
    ),
    "csv": Form("tables.csv", "a row for each job, setting and metric", lambda asked: to_csv(asked.results)),
    "json": Form("tables.json", "the same", _json),
}
_UNFIT = re.compile(r"[^-.()=\w]+")  # For the name of a file: a data set may be named by its folder.


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m mohone.report", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    about = [f"{name}: {form.about}" for name, form in FORMS.items()]
    parser.add_argument(
        "--format",
        choices=(*FORMS, "png"),
        default="jobs",
        help="; ".join([*about, "png: bar charts, written to --out"]),
    )
    parser.add_argument(
        "--setting", choices=ALL_SETTINGS, default="filtered", help="of the table of jobs, the charts"
    )
    parser.add_argument(
        "--against", choices=("paper",), help="show all cells of the paper, and its figures beside"
    )
    parser.add_argument("--out", type=Path, help="folder to write to instead of the terminal")
    return parser


def _draw(results: Results, setting: str, folder: Path) -> None:
    for group in group_results(results):
        for metric in TESTED:
            name = f"{group.dataset}-{group.recipe}-{group.training}-{setting}-{metric.replace('@', '')}"
            path = folder / f"{_UNFIT.sub('_', name)}.png"
            save_figure(bar_figure(group, setting, metric), path)
            print(path)


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is nothing to show."""
    prepare_terminal()
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.format == "png" and chosen.out is None:
        parser.error("--format png wants a folder to write to, --out")
    missing = [folder for folder in chosen.folders if not folder.is_dir()]
    if missing:
        print(f"{missing[0]} must be a folder of results, but is none.", file=sys.stderr)
        return 1
    results = read_results(chosen.folders)
    if not results:
        print("There must be results below the folders, but are none.", file=sys.stderr)
        return 1
    try:
        if chosen.format == "png":
            _draw(results, chosen.setting, chosen.out)
            return 0
        form = FORMS[chosen.format]
        text = form.write(Request(results, chosen.setting, chosen.against == "paper"))
        if chosen.out is None:
            print(text, end="", flush=True)
        else:
            write_text(chosen.out / form.file, text)
            print(chosen.out / form.file)
    except (MohoneError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
