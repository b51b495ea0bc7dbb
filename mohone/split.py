"""`python -m mohone.split FILE FOLDER`: train, valid and test for `dataset.path`, of one file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mohone.core.errors import DataError, MohoneError, require_int
from mohone.core.files import making
from mohone.core.terminal import prepare_terminal, typed


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if nothing was written."""
    prepare_terminal()
    parser = argparse.ArgumentParser(prog="python -m mohone.split", description=__doc__)
    parser.add_argument("file", type=Path, help="head, relation and tail a line, UTF-8")
    parser.add_argument("folder", type=Path, help="made, or empty")
    parser.add_argument(
        "--share", type=float, default=0.1, help="of each of valid and test; 0.1 if not given"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw; 0 if not given")
    about = "between fields of FILE; a tab if not given"
    parser.add_argument("--delimiter", type=typed, default="\t", help=about)
    given = parser.parse_args(arguments)
    try:
        _split(given.file, given.folder, given.delimiter, given.share, given.seed)
    except (MohoneError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _split(file: Path, folder: Path, delimiter: str, share: float, seed: int) -> None:
    # Torch takes seconds: help and typos should not.
    from mohone.data.reading import read_triples
    from mohone.data.splitting import split_triples

    require_int("--seed", seed, 0)
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} must be a new or an empty folder, but is none.")
    splits = split_triples(read_triples(file, delimiter).triples, share, seed)
    with making(folder) as part:
        for name, triples in splits.items():
            lines = ("\t".join(triple) + "\n" for triple in triples)
            (part / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    print(f"{folder}: " + ", ".join(f"{len(triples):,} {name}" for name, triples in splits.items()))


if __name__ == "__main__":
    sys.exit(main())
