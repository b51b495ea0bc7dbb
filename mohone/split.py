"""`python -m mohone.split FILE FOLDER`: train, valid and test for `dataset.path`, of one file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mohone.core.command_line import Parser, YesNo
from mohone.core.errors import DataError, require_int
from mohone.core.files import check_file, making
from mohone.core.terminal import exit_code, prepare_terminal, typed


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if nothing was written."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.split", description=__doc__)
    parser.add_argument("file", type=Path, help="head, relation and tail a line, UTF-8")
    parser.add_argument("folder", type=Path, help="made, or empty")
    parser.add_argument(
        "--share", type=float, default=0.1, help="of each of valid and test; 0.1 if not given"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw; 0 if not given")
    parser.add_argument(
        "--no-leak", action="store_true", help="keep all triples of two entities in one split, in either way"
    )
    about = "between fields of FILE; a tab if not given"
    parser.add_argument("--delimiter", type=typed, default="\t", help=about)
    parser.add_argument(
        "--header",
        action=YesNo,
        help="the first line names the columns; if not said: if its words do, and stand nowhere else",
    )
    parser.add_argument("--weights", action="store_true", help="the fourth field is the triple's weight")
    given = parser.parse_args(arguments)
    return exit_code(lambda: _split(given))


def _split(given: argparse.Namespace) -> None:
    check_file("FILE", given.file)
    # Compiled loops take a second: help and typos should not.
    from mohone.data.headers import without_header
    from mohone.data.reading import read_triples
    from mohone.data.splitting import count_linked, split_triples, weights_of
    from mohone.data.triples import write_lines

    require_int("--seed", given.seed, 0)
    folder = given.folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} must be a new or an empty folder, but is a file.")
    if there := sorted(each.name for each in folder.iterdir()) if folder.exists() else []:
        more = f" and {len(there) - 1:,} more" if len(there) > 1 else ""
        raise DataError(f"{folder} must be a new or an empty folder, but holds {there[0]}{more}.")
    read, note = read_triples(given.file, given.delimiter, given.header, given.weights), ""
    if given.header is None:
        read, note = without_header(given.file, read, given.delimiter)
    if note:
        print(f"{given.file}: {note}.", file=sys.stderr)
    splits = split_triples(read.triples, given.share, given.seed, leak=not given.no_leak)
    weights = None if read.weights is None else weights_of(read.triples, read.weights)
    with making(folder) as part:
        for name, drawn in splits.items():
            rows = drawn if weights is None else ([*each, str(weights[each])] for each in drawn)
            write_lines(part / f"{name}.txt", rows)
    print(f"{folder}: " + ", ".join(f"{len(drawn):,} {name}" for name, drawn in splits.items()))
    linked = count_linked(splits)
    if any(linked.values()):
        counts = " and ".join(f"{linked[name]:,} of {len(splits[name]):,} {name}" for name in linked)
        print(
            f"train links the head and the tail of {counts} triples by another relation or the other way "
            "round, so that their answers can be copied; --no-leak keeps all triples of two entities together"
        )


if __name__ == "__main__":
    sys.exit(main())
