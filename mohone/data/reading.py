"""Strict reading of triples: every fault names its file and line, and no name is changed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mohone.core.errors import ConfigError, DataError

NamedTriple = tuple[str, str, str]
FIELDS = ("head", "relation", "tail")
EDGE_FIELDS = ("one node", "other node")
_DELIMITER_WORDS = {"\t": "tab-separated", ",": "comma-separated", " ": "space-separated"}


class TripleFile(NamedTuple):
    """What a file of triples held: the triples in its order, and how many lines were blank."""

    triples: list[NamedTriple]
    n_blank: int


def read_triples(path: Path, delimiter: str = "\t") -> TripleFile:
    r"""Read `head<delimiter>relation<delimiter>tail` lines, UTF-8, ended by ``\n`` or ``\r\n``.

    Names are kept as they are: no white space is stripped, no number parsed, no case folded. A byte-order
    mark at the start is no part of a name. Blank lines are skipped and counted.

    Raises:
        DataError: a missing file, a byte that is not UTF-8, a line without exactly three fields, an
            empty field.
    """
    return _parse(path, _read_text(path), delimiter, FIELDS)


def read_edges(path: Path, delimiter: str = "\t") -> TripleFile:
    """Read a graph of any kind: lines of two nodes, or of triples as `read_triples` takes them.

    Of two fields the relation is "". The first line that is not blank decides which of the two it is.

    Raises:
        DataError: as `read_triples`, with the number of fields that the first line has.
    """
    text = _read_text(path)
    lines = text.split("\n")
    number, first = next(((i, line) for i, line in enumerate(lines, 1) if line.strip(" \r")), (1, ""))
    n_fields = first.removesuffix("\r").count(delimiter) + 1
    if first and n_fields not in (len(EDGE_FIELDS), len(FIELDS)):
        raise DataError(
            f"{path}, line {number}: found {_fields(n_fields)}, wanted {len(EDGE_FIELDS)} "
            f"({', '.join(EDGE_FIELDS)}) or {len(FIELDS)} ({', '.join(FIELDS)}), {_kind(delimiter)}; "
            "there are no lines of comment."
        )
    names = EDGE_FIELDS if n_fields == len(EDGE_FIELDS) else FIELDS
    return _parse(path, text, delimiter, names)


def _parse(path: Path, text: str, delimiter: str, names: tuple[str, ...]) -> TripleFile:
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in "\r\n":
        raise ConfigError(f"The delimiter (`dataset.delimiter`) must be one character, but is {delimiter!r}.")
    triples: list[NamedTriple] = []
    n_blank = 0
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()  # What follows the last line's end is no line.
    for number, line in enumerate(lines, start=1):
        line = line.removesuffix("\r")
        fields = line.split(delimiter)
        if len(fields) == len(names) and all(fields) and (delimiter == "\t" or "\t" not in line):
            triples.append((fields[0], fields[1] if len(names) == 3 else "", fields[-1]))
        elif not line.strip(" "):
            n_blank += 1
        else:
            raise DataError(f"{path}, line {number}: {_fault(fields, delimiter, names)}")
    return TripleFile(triples, n_blank)


def _fault(fields: list[str], delimiter: str, names: tuple[str, ...]) -> str:
    if len(fields) != len(names):
        return f"found {_fields(len(fields))}, wanted {len(names)} ({', '.join(names)}, {_kind(delimiter)})."
    if all(fields):
        return "a name must not hold a tab, but one does."
    empty = names[[bool(field) for field in fields].index(False)]
    return f"the {empty} must be a name, but is empty."


def _fields(n: int) -> str:
    return f"{n} field" if n == 1 else f"{n} fields"


def _kind(delimiter: str) -> str:
    return _DELIMITER_WORDS.get(delimiter, f"separated by {delimiter!r}")


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path} must be a file of triples, but does not exist.") from None
    except OSError as error:
        raise DataError(f"{path} must be a file of triples, but: {error.strerror}.") from None
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: the text must be UTF-8, but holds the byte 0x{content[error.start]:02X}."
        ) from None
