"""Strict reading of triples: every fault names its file and line, and no name is changed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from mohone.core.errors import ConfigError, DataError
from mohone.data.opening import line_blocks
from mohone.data.triples import NamedTriple as NamedTriple
from mohone.data.triples import NamedTriples, Table

FIELDS = ("head", "relation", "tail")
EDGE_FIELDS = ("one node", "other node")
_DELIMITER_WORDS = {"\t": "tab-separated", ",": "comma-separated", " ": "space-separated"}
_MARK = "\ufeff".encode()


class TripleFile(NamedTuple):
    """What a file of triples held: the triples in its order, and how many lines were blank."""

    triples: NamedTriples
    n_blank: int


def read_triples(path: Path, delimiter: str = "\t") -> TripleFile:
    r"""Read `head<delimiter>relation<delimiter>tail` lines, UTF-8, ended by ``\n`` or ``\r\n``.

    Names are kept as they are: no white space is stripped, no number parsed, no case folded. A byte-order
    mark at the start is no part of a name. Blank lines are skipped and counted.

    Raises:
        DataError: a missing file, a byte that is not UTF-8, a line without exactly three fields, an
            empty field.
    """
    table = _read(path, delimiter, FIELDS)
    return TripleFile(NamedTriples(table.names, table.codes), table.n_blank)


def read_edges(path: Path, delimiter: str = "\t") -> TripleFile:
    """Read a graph of any kind: lines of two nodes, or of triples as `read_triples` takes them.

    Of two fields the relation is that there is a line, "-". The first line that is not blank decides which
    of the two it is.

    Raises:
        DataError: as `read_triples`, with the number of fields that the first line has.
    """
    number, first = _first_line(path)
    n_fields = first.removesuffix("\r").count(delimiter) + 1
    if first and n_fields not in (len(EDGE_FIELDS), len(FIELDS)):
        raise DataError(
            f"{path}, line {number}: found {_fields(n_fields)}, wanted {len(EDGE_FIELDS)} "
            f"({', '.join(EDGE_FIELDS)}) or {len(FIELDS)} ({', '.join(FIELDS)}), {_kind(delimiter)}; "
            "there are no lines of comment."
        )
    if n_fields == len(FIELDS):
        return read_triples(path, delimiter)
    table = _read(path, delimiter, EDGE_FIELDS)
    relation = table.names.add([b"-"]).repeat(len(table.codes))
    codes = np.stack([table.codes[:, 0], relation, table.codes[:, 1]], 1)
    return TripleFile(NamedTriples(table.names, codes), table.n_blank)


def _first_line(path: Path) -> tuple[int, str]:
    """Number and text of the first line that is not blank; ("" if there is none)."""
    number = 0
    for block in line_blocks(path):
        for line in block.removeprefix(_MARK if not number else b"").split(b"\n")[:-1]:
            number += 1
            if line.strip(b" \r"):
                return number, line.decode(errors="replace")
    return 1, ""


def _read(path: Path, delimiter: str, fields: tuple[str, ...]) -> Table:
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in "\r\n":
        raise ConfigError(f"The delimiter (`dataset.delimiter`) must be one character, but is {delimiter!r}.")
    table = Table(len(fields))
    first = True
    for block in line_blocks(path):
        if first:
            block, first = block.removeprefix(_MARK), False
        sound = _decodable(block)
        place = table.read(block[:sound], delimiter.encode())
        if place.fault is not None:
            raise DataError(f"{path}, line {place.line}: {_fault(place.fault.decode(), delimiter, fields)}")
        if sound < len(block):
            raise DataError(f"{path}, line {place.line + 1}: {_bad_byte(block[sound:])}")
    return table


def _decodable(block: bytes) -> int:
    """Bytes of the lines before the first that is not UTF-8."""
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return block.rfind(b"\n", 0, error.start) + 1
    return len(block)


def _bad_byte(block: bytes) -> str:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return f"the text must be UTF-8, but holds the byte 0x{block[error.start]:02X}."
    raise AssertionError


def _fault(line: str, delimiter: str, names: tuple[str, ...]) -> str:
    fields = line.removesuffix("\r").split(delimiter)
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
