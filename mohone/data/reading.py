"""Strict reading of triples: every fault names its file and line, and no name is changed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mohone.core.errors import DataError
from mohone.core.words import counted
from mohone.data.columns import field_of, need_order, order_of
from mohone.data.opening import line_blocks
from mohone.data.parquet import read_parquet
from mohone.data.separators import advice, kind, separator
from mohone.data.triples import NamedTriple as NamedTriple
from mohone.data.triples import NamedTriples, Table

FIELDS = ("head", "relation", "tail")
WEIGHTED = (*FIELDS, "weight")
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "Zstandard", b"PK": "zip"}
_UNPACK = "unpack it, or let its name end in .gz or .zst if it is one of these"


class TripleFile(NamedTuple):
    """What a file of triples held: the triples in its order, and how many lines were blank.

    Attributes:
        weights: `(n,)` float32, > 0, where the file was asked for them.
        header: the words of the first line, in its order, where it is none of the triples.
    """

    triples: NamedTriples
    n_blank: int
    weights: NDArray[np.float32] | None = None
    header: tuple[str, ...] | None = None


def read_triples(
    path: Path, delimiter: str = "\t", header: bool | None = False, weights: bool = False
) -> TripleFile:
    r"""Read `head<delimiter>relation<delimiter>tail` lines, UTF-8, ended by ``\n`` or ``\r\n``.

    Names are kept as they are: no white space is stripped, no number parsed, no case folded. A byte-order
    mark at the start is no part of a name. Blank lines are skipped and counted. Files that end in `.gz` and
    `.zst` are unpacked, and of `.parquet` the columns of these names are read, or else all, which must be
    as many.

    Args:
        header: is the first line that is not blank no triple, but names the columns, whose order is then
            this line's? None: that is not known yet; it is kept, and its weight is 0 if it has none.
        weights: is there a fourth field, a number > 0?

    Raises:
        DataError: a missing file, a byte that is not UTF-8, a line without exactly three fields, an
            empty field; a header that names another order, but not all of it.
    """
    fields = WEIGHTED if weights else FIELDS
    table = read_table(path, delimiter, fields)
    has_first = path.suffix != ".parquet" and header is not False and len(table.codes) > 0
    words = tuple(table.names.name(code) for code in table.codes[0]) if has_first else ()
    first = int(header is True and has_first)
    order = need_order(words, fields, path) if first else _order_of_weighted(words)
    triples = NamedTriples(table.names, table.codes[first:]).ordered(order[:3])
    read = TripleFile(triples, table.n_blank, header=words if first or order[3:] not in ([], [3]) else None)
    if weights:
        read = read._replace(weights=numbers_of(path, table, first, order[3], unsure=has_first and not first))
    return read


def _order_of_weighted(words: tuple[str, ...]) -> list[int]:
    """The order that a first line says which has its weight not last, so that it can be no triple."""
    order = order_of(words, WEIGHTED) if len(words) == len(WEIGHTED) else None
    return order if order and order[3] != 3 else list(range(len(WEIGHTED)))


def read_table(path: Path, delimiter: str, fields: tuple[str, ...]) -> Table:
    """Read lines of so many fields, none empty.

    Raises:
        DataError: as `read_triples`.
    """
    delimiter = separator(delimiter)
    table = Table(len(fields))
    if path.suffix == ".parquet":
        read_parquet(path, fields, table)
        return table
    for block in line_blocks(path):
        sound = _decodable(block)
        place = table.read(block[:sound], delimiter.encode())
        if place.fault is not None:
            raise DataError(f"{path}, line {place.line}: {_fault(place.fault.decode(), delimiter, fields)}")
        if sound < len(block):
            byte = block[_bad_place(block) or 0]
            if packing := next((name for sign, name in _PACKED.items() if block.startswith(sign)), None):
                raise DataError(f"{path} must be text, but is packed by {packing}: {_UNPACK}.")
            raise DataError(
                f"{path}, line {place.line + 1}: the text must be UTF-8, but holds the byte 0x{byte:02X}."
            )
    return table


def numbers_of(
    path: Path, table: Table, first: int, column: int, unsure: bool = False
) -> NDArray[np.float32]:
    """The weights that a column holds from row `first` on: `(n,)` float32.

    Args:
        unsure: may the first of them be none?

    Raises:
        DataError: one that is no finite number > 0.
    """
    values = np.zeros(len(table.names), np.float32)
    for code in np.unique(table.codes[first:, column]).tolist():
        values[code] = weight_of(table.names.name(code))
    numbers = values[table.codes[first:, column]]
    bad = np.flatnonzero(numbers == 0)
    if len(bad) > (unsure and bad[:1].tolist() == [0]):
        texts = [table.names.name(int(table.codes[first + row, column])) for row in bad[:2].tolist()]
        at = int(unsure and bad[0] == 0 and field_of(texts[0]) is not None)  # A name of a column is none.
        place = f"{path}, line {_line_of(path, first + int(bad[at])):,}"
        raise DataError(f"{place}: the weight must be {_weight_like(texts[at])}, but is {texts[at]!r}.")
    return numbers


def _weight_like(text: str) -> str:
    """What a text must be, that is no weight."""
    try:
        is_positive = "_" not in text and any(map(str.isdigit, text)) and float(text) > 0
    except ValueError:
        is_positive = False
    return f"a number > 0{' that 32 bits can hold' if is_positive else ''}"


def weight_of(text: str) -> np.float32:
    """The number that a text is; 0 if it is no finite one above 0.

    Example:
        >>> [float(weight_of(text)) for text in ("0.5", "1e3", "-1", "nan", "one", "1_0")]
        [0.5, 1000.0, 0.0, 0.0, 0.0, 0.0]
    """
    try:
        with np.errstate(over="ignore"):
            value = np.float32(float(text)) if "_" not in text else np.float32(0)
    except ValueError:
        return np.float32(0)
    return value if np.isfinite(value) and value > 0 else np.float32(0)


def first_line(path: Path) -> tuple[int, str]:
    """Number and text of the first line that is not blank; 1 and "" if there is none."""
    number, line = next(_filled_lines(path), (1, b""))
    return number, line.decode(errors="replace")


def _line_of(path: Path, row: int) -> int:
    """The number of the line that holds a row, which blank ones do not."""
    if path.suffix == ".parquet":
        return row + 1
    return next(itertools.islice(_filled_lines(path), row, None))[0]


def _filled_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of each line that is not blank, without its end."""
    lines = (line for block in line_blocks(path) for line in block.split(b"\n")[:-1])
    for number, line in enumerate(lines, 1):
        text = line.removesuffix(b"\r")
        if text.strip(b" "):
            yield number, text


def _decodable(block: bytes) -> int:
    """Bytes of the lines before the first that is not UTF-8."""
    place = _bad_place(block)
    return len(block) if place is None else block.rfind(b"\n", 0, place) + 1


def _bad_place(block: bytes) -> int | None:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _fault(line: str, delimiter: str, names: tuple[str, ...]) -> str:
    line = line.removesuffix("\r")
    fields = line.split(delimiter)
    if len(fields) != len(names):
        wanted = f"{len(names)} ({', '.join(names)}, {kind(delimiter)})"
        more = advice(line, delimiter, {len(names)})
        return f"found {counted(len(fields), 'field')}, wanted {wanted}{more}."
    if all(fields):
        return "a name must not hold a tab, but one does."
    empty = names[[bool(field) for field in fields].index(False)]
    what = "a number > 0" if empty == WEIGHTED[-1] else "a name"
    return f"the {empty} must be {what}, but is empty."
