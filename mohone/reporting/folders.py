"""Files of results found below folders, and those that are passed over, each of which is named once."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def files_named(name: str, folders: Sequence[Path]) -> list[Path]:
    """All files of a name at or below the folders, in the order of their paths, numbers by value.

    Links to folders are followed, but no folder is entered twice: what can be reached with and without a link
    is found without, and a link to a folder above itself makes no circle.
    """
    found, seen = [], set()
    inside, links = list(reversed(folders)), list[Path]()
    while inside or links:
        folder = inside.pop() if inside else links.pop(0)
        try:
            status = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            pass_over(folder, f"cannot be read ({error.strerror})")
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        for entry in entries:
            path = folder / entry.name
            if entry.is_dir():
                (links if entry.is_symlink() else inside).append(path)
            elif entry.is_symlink() and not path.exists():
                pass_over(path, "is a link to nothing")
            elif entry.name == name:
                found.append(path)
    return sorted(found, key=natural)


@functools.cache  # A sweep reads its results after each job, and a table reads the same ranks many times.
def pass_over(path: Path, what: str) -> None:
    """Name a file or folder that is left out, and why, on stderr; once."""
    print(f"{path} {what} and is passed over.", file=sys.stderr)


def natural(path: Path) -> list[tuple[int, int, str]]:
    """A key to sort by, by which job 9 comes before job 10.

    >>> [path.name for path in sorted([Path("s/10"), Path("s/9"), Path("s/a")], key=natural)]
    ['9', '10', 'a']
    """
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in path.parts]
