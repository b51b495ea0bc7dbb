"""`python -m mohone.report FOLDER...`: tables and charts of all results below the folders."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from mohone.core.config import Plain
from mohone.core.errors import MohoneError
from mohone.core.files import write_text
from mohone.evaluation.settings import SETTINGS
from mohone.reporting.cells import Block, blocks
from mohone.reporting.figures.bars import bar_figure
from mohone.reporting.formats import rows_of, to_csv, to_latex, to_markdown
from mohone.reporting.jobs import jobs_table
from mohone.reporting.plotting import save_figure
from mohone.reporting.results import read_results
from mohone.reporting.tables import METRICS, tables_of

FILES = {
    "jobs": "jobs.md",
    "markdown": "tables.md",
    "latex": "tables.tex",
    "csv": "tables.csv",
    "json": "tables.json",
}


def render(results: list[tuple[Path, Plain]], form: str, setting: str, against_paper: bool) -> str:
    """All results in one of the forms of `FILES`.

    Raises:
        AmbiguousError: results that cannot stand in one table.
    """
    if form == "jobs":
        return jobs_table(results, setting)
    if form == "csv":
        return to_csv(results)
    if form == "json":
        return json.dumps(rows_of(results), indent=1, ensure_ascii=False) + "\n"
    tables = [table for block in blocks(results) for table in tables_of(block, against_paper)]
    if form == "latex":
        return to_latex(tables)
    return f"{jobs_table(results, setting)}\n{to_markdown(tables)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mohone.report", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--format",
        choices=(*FILES, "png"),
        default="jobs",
        help="jobs: a row for each (default); markdown: with the paper's tables; latex: these alone; "
        "csv, json: a row for each job, setting and metric; png: bar charts, written to --out",
    )
    parser.add_argument(
        "--setting", choices=SETTINGS, default="filtered", help="of the table of jobs, the charts"
    )
    parser.add_argument(
        "--against", choices=("paper",), help="show all cells of the paper, and its figures beside"
    )
    parser.add_argument("--out", type=Path, help="folder to write to instead of the terminal")
    return parser


def _draw(found: list[Block], setting: str, folder: Path) -> None:
    for block in found:
        for metric in METRICS:
            name = f"{block.dataset}-{block.recipe}-{block.training}-{setting}-{metric.replace('@', '')}.png"
            save_figure(bar_figure(block, setting, metric), folder / name)
            print(folder / name)


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is nothing to show."""
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
            _draw(blocks(results), chosen.setting, chosen.out)
            return 0
        text = render(results, chosen.format, chosen.setting, chosen.against == "paper")
        if chosen.out is None:
            print(text, end="")
        else:
            path = chosen.out / FILES[chosen.format]
            write_text(path, text)
            print(path)
    except (MohoneError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
