"""Triples of names in little memory: the names once, and three numbers a triple."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np

from mohone.core.errors import DataError
from mohone.core.files import write_text
from mohone.data.names import Codes, Names
from mohone.data.opening import BYTE_ORDER_MARK
from mohone.data.scanning import DONE, FULL, scan_lines

NamedTriple = tuple[str, str, str]
_BLOCK = 1 << 16  # Triples written as text at once.


class Place(NamedTuple):
    """Where reading came to a line that is none of `n_columns` names, or to the end (`fault` is None)."""

    line: int
    fault: bytes | None


class Table:
    """Lines of names, each a row of numbers, as they are read.

    Attributes:
        names: what the numbers stand for.
        n_blank: lines that were blank.
    """

    def __init__(self, n_columns: int) -> None:
        self.names = Names()
        self.n_blank = 0
        self._codes: Codes = np.empty((1 << 10, n_columns), np.int32)
        self._n = 0
        self._n_lines = 0

    @property
    def codes(self) -> Codes:
        """`(n, n_columns)` numbers of the names."""
        return self._codes[: self._n]

    def read(self, block: bytes, delimiter: bytes = b"\t") -> Place:
        """Read whole lines of UTF-8, the last of which ends, too; stop at the first that cannot be."""
        text, marks = np.frombuffer(block, np.uint8), np.frombuffer(delimiter, np.uint8)
        found = np.array([0, self._n, self._n_lines, self.n_blank, 0, 0])
        while True:
            pool = self.names
            arrays = (pool.slots, pool.hashes, pool.starts, pool.bytes, pool.n)
            state = scan_lines(text, marks, self._codes, found, *arrays)
            _, self._n, self._n_lines, self.n_blank, rows, n_bytes = map(int, found)
            if state != FULL:
                break
            pool.reserve(rows * self._codes.shape[1], n_bytes)
            if self._n + rows > len(self._codes):
                self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        if state == DONE:
            return Place(self._n_lines, None)
        place = int(found[0])
        return Place(self._n_lines + 1, block[place : block.index(b"\n", place)])


class NamedTriples(Sequence[NamedTriple]):
    """Triples of names, in the order of their lines, repeated ones too; a list of tuples to whom looks.

    Attributes:
        names: of entities and relations.
        codes: `(n, 3)` int32 of head, relation, tail: their numbers in `names`.

    Example:
        >>> NamedTriples.of([("a", "r", "b"), ("b", "r", "a")]).codes.tolist()
        [[0, 1, 2], [2, 1, 0]]
    """

    def __init__(self, names: Names, codes: Codes) -> None:
        self.names = names
        self.codes = codes

    @classmethod
    def of(cls, triples: Iterable[NamedTriple]) -> NamedTriples:
        """Triples that are in memory.

        Raises:
            DataError: a name that no file could hold: an empty one, or one with a tab or an end of line.
        """
        if isinstance(triples, NamedTriples):
            return triples
        table, block = Table(3), []
        for triple in triples:
            block.append(triple)
            if len(block) == _BLOCK:
                _add(table, block)
                block = []
        _add(table, block)
        return cls(table.names, table.codes)

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, place: int) -> NamedTriple: ...

    @overload
    def __getitem__(self, place: slice) -> NamedTriples: ...

    def __getitem__(self, place: int | slice) -> NamedTriple | NamedTriples:
        if isinstance(place, slice):
            return NamedTriples(self.names, self.codes[place])
        head, relation, tail = (self.names.name(code) for code in self.codes[place])
        return head, relation, tail

    def __iter__(self) -> Iterator[NamedTriple]:
        names = self.names.tuple
        for first in range(0, len(self), _BLOCK):
            for head, relation, tail in self.codes[first : first + _BLOCK].tolist():
                yield names[head], names[relation], names[tail]

    def ordered(self, places: Sequence[int]) -> NamedTriples:
        """These triples with head, relation and tail from these columns."""
        codes = self.codes[:, :3] if list(places) == [0, 1, 2] else self.codes[:, list(places)]
        return NamedTriples(self.names, codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def _add(table: Table, triples: list[NamedTriple]) -> None:
    first = len(table.codes)
    lines = [line_of(triple) for triple in triples]
    try:
        text = "".join(lines).encode()
    except UnicodeEncodeError:
        number = next(i for i, line in enumerate(lines) if _not_utf8(line))
        raise DataError(
            f"Triple {first + number:,} (from 0) must hold text, but {triples[number]!r} is no UTF-8."
        ) from None
    whole = text.count(b"\n") == len(lines) == len(triples)
    if not whole or table.read(text).fault is not None:
        number = next(i for i, triple in enumerate(triples) if not is_row(triple, 3))
        raise DataError(
            f"Triple {first + number:,} (from 0) must hold three names, none empty or with a tab or an end "
            f"of line, but is {triples[number]!r}."
        )


def line_of(fields: Sequence[str]) -> str:
    r"""The line that is read as these fields.

    A carriage return at a line's end is no part of a name: one more keeps that of a name.

    Example:
        >>> line_of(["a", "r", "b"]), line_of(["a", "r", "b\r"])
        ('a\tr\tb\n', 'a\tr\tb\r\r\n')
    """
    line = "\t".join(fields)
    return f"{line}\r\n" if line.endswith("\r") else f"{line}\n"


def write_lines(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write a file of rows of fields, none of which holds a tab or a line feed, atomically.

    A first name that begins with a byte-order mark has another before it, which readers take away.
    """
    text = "".join(map(line_of, rows))
    write_text(path, f"{BYTE_ORDER_MARK}{text}" if text.startswith(BYTE_ORDER_MARK) else text)


def is_row(names: Sequence[str | None], n: int) -> bool:
    """Are these so many names that a line of a file can hold?"""
    return len(names) == n and all(name and "\t" not in name and "\n" not in name for name in names)


def _not_utf8(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)
