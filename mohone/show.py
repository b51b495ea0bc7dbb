"""`python -m mohone.show FOLDER [--out page.html]`: a page of a job, a sweep or a folder of results."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from mohone.core.command_line import Parser
from mohone.core.errors import DataError, require_int
from mohone.core.files import write_text
from mohone.core.terminal import exit_code, prepare_terminal
from mohone.reporting.results import read_results


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is nothing to show."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.show", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of a job, of a sweep, or of results")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="FOLDER/page.html if not given")
    parser.add_argument("--title", help="of the page; the folder's name if not given")
    parser.add_argument(
        "--open",
        type=int,
        default=4,
        metavar="N",
        help="jobs whose largest wins and losses are told by name; 4 if not given",
    )
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    return exit_code(lambda: _show(given))


def _show(given: argparse.Namespace) -> None:
    require_int("--open", given.open, 0)
    out = given.out or given.folder / "page.html"
    write_text(out, _page(given.folder, given.title or given.folder.resolve().name, given.open))
    print(out)


def _page(folder: Path, title: str, n_opened: int) -> str:
    if not folder.is_dir():
        raise DataError(f"{folder} must be a folder of results, but is none.")
    results = read_results([folder])
    if not results:
        raise DataError(f"There must be results below {folder}, but are none.")
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.opened.extras import extras_of
    from mohone.reporting.page.render import page_of

    return page_of(results, title, extras_of(results, n_opened))


if __name__ == "__main__":
    sys.exit(main())
