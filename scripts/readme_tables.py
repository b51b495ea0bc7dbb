"""Put the MRR tables of the results in a folder between the marks of the README.

    python scripts/readme_tables.py outputs/paper README.md

Recipe `paper` is shown typed, as the paper's tables are, the others filtered, as published figures are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mohone.core.files import write_text
from mohone.reporting.formats import LEGEND, markdown_table
from mohone.reporting.groups import group_results
from mohone.reporting.results import read_results
from mohone.reporting.tables import main_table

BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
SETTING_OF = {"paper": "typed", "strong": "filtered"}


def tables(folder: Path) -> str:
    """A caption and a Markdown table for each data set and recipe below the folder."""
    parts = [LEGEND]
    for group in sorted(group_results(read_results([folder])), key=lambda each: (each.dataset, each.recipe)):
        table = main_table(group, SETTING_OF.get(group.recipe, "filtered"), "mrr", whole=True)
        parts.append(f"{table.title}:\n\n{markdown_table(table).rstrip()}")
    return "\n\n".join(parts)


def main(folder: Path, readme: Path) -> int:
    """Replace what stands between the marks; the exit code."""
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    write_text(readme, f"{before}{BEGIN}\n{tables(folder)}\n\n{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
