"""Put the MRR tables of the results in a folder between the marks of a page.

    python scripts/page_tables.py outputs/paper docs/tables.md
    python scripts/page_tables.py outputs/evidence/strong README.md

Recipe `paper` is shown typed, as the paper's tables are, the others filtered, as published figures are. Of a
folder called `evidence`, or in one, it is the tables of gains in parts, between marks of their own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mohone.core.files import write_text
from mohone.reporting.formats import LEGEND, markdown_table
from mohone.reporting.groups import group_results
from mohone.reporting.parts import parts_tables
from mohone.reporting.results import read_results
from mohone.reporting.tables import main_table

MARKS = ("<!-- tables -->", "<!-- end of tables -->")
EVIDENCE, MARKS_OF_EVIDENCE = "evidence", ("<!-- evidence -->", "<!-- end of evidence -->")
SETTING_OF = {"paper": "typed", "strong": "filtered"}


def tables(folder: Path) -> str:
    """A caption and a Markdown table for each data set and recipe below the folder."""
    parts = [LEGEND]
    for group in sorted(group_results(read_results([folder])), key=lambda each: (each.dataset, each.recipe)):
        table = main_table(group, SETTING_OF.get(group.recipe, "filtered"), "mrr", whole=True)
        parts.append(f"{table.title}:\n\n{markdown_table(table).rstrip()}")
    return "\n\n".join(parts)


def gains_in_parts(folder: Path) -> str:
    """The same for what infusions gain in parts."""
    groups = sorted(group_results(read_results([folder])), key=lambda each: (each.dataset, each.recipe))
    found = [table for group in groups for table in parts_tables(group)]
    return "\n\n".join(f"{table.title}:\n\n{markdown_table(table).rstrip()}" for table in found)


def put(text: str, folder: Path) -> str:
    """The page with the tables of a folder between their marks."""
    # Not `folder.parts`: a checkout may lie in a folder of any name.
    is_evidence = EVIDENCE in (folder.name, folder.parent.name)
    begin, end = MARKS_OF_EVIDENCE if is_evidence else MARKS
    before, rest = text.split(begin)
    _, after = rest.split(end)
    shown = gains_in_parts(folder) if is_evidence else tables(folder)
    return f"{before}{begin}\n{shown}\n\n{end}{after}"


def main(folder: Path, page: Path) -> int:
    """Replace what stands between the marks; the exit code."""
    write_text(page, put(page.read_text(encoding="utf-8"), folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
