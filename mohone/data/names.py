"""A pool of names: each one's bytes once, found again by a hash table, so that millions are read in seconds.

Names are compared byte for byte: two names are one only if all their bytes are.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mohone.core.parallel import in_chunks
from mohone.data.scanning import EMPTY, fill_slots, number_all, pack_words, write_lines

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int32]


class Names:
    """Names numbered in the order in which they were met, from 0.

    Example:
        >>> Names.of([b"b", b"a", b"b"]).tuple
        ('b', 'a')
    """

    def __init__(self, names: int = 1 << 10, n_bytes: int = 1 << 14) -> None:
        self.slots = _no_slots(names)  # Half a hash and a number each.
        self.hashes = np.zeros(names, np.uint64)
        self.starts = np.zeros(names + 1, np.int64)
        self.bytes = np.zeros(n_bytes, np.uint8)
        self.n = np.zeros(1, np.int64)

    @classmethod
    def of(cls, names: list[bytes]) -> Names:
        """A pool of these names."""
        pool = cls()
        pool.add(names)
        return pool

    def __len__(self) -> int:
        return int(self.n[0])

    def reserve(self, names: int, n_bytes: int) -> None:
        """Make room for so many more of each."""
        n, used = len(self), int(self.starts[len(self)])
        if n + names > len(self.hashes):
            size = max(n + names, 2 * len(self.hashes))
            self.hashes = _grown(self.hashes, n, size)
            self.starts = _grown(self.starts, n + 1, size + 1)
            self.slots = _no_slots(size)
            fill_slots(self.slots, self.hashes, n)
        if used + n_bytes > len(self.bytes):
            self.bytes = _grown(self.bytes, used, max(used + n_bytes, 2 * len(self.bytes)))

    def add(self, names: list[bytes]) -> Codes:
        """The number of each name, a new one for a name that is new."""
        text = np.frombuffer(b"".join(names) or b"\0", np.uint8)
        ends = np.cumsum([0, *map(len, names)], dtype=np.int64)
        return self._add(text, ends)

    def add_pool(self, other: Names) -> Codes:
        """The number here of each name there."""
        return self._add(other.bytes, other.starts[: len(other) + 1])

    def _add(self, text: Bytes, ends: NDArray[np.int64]) -> Codes:
        self.reserve(len(ends) - 1, int(ends[-1]))
        codes = np.empty(len(ends) - 1, np.int32)
        number_all(text, ends[:-1], ends[1:], codes, self.slots, self.hashes, self.starts, self.bytes, self.n)
        return codes

    def blocks(self, order: NDArray[np.int64], ending: bytes, size: int = 1 << 20) -> Iterator[bytes]:
        """The names of these numbers one after another, each with `ending`, in blocks of so many names."""
        for first in range(0, len(order), size):
            yield self.text(order[first : first + size, None], ending)

    def text(self, codes: NDArray[Any], ending: bytes = b"\n") -> bytes:
        """`(n, k)` numbers as n lines of k names, with tabs between."""
        codes = np.ascontiguousarray(codes, np.int64)
        sizes = (self.starts[codes + 1] - self.starts[codes]).sum(1) + codes.shape[1] - 1 + len(ending)
        ends, mark = np.append(0, np.cumsum(sizes)), np.frombuffer(ending, np.uint8)
        out = np.empty(ends[-1], np.uint8)

        def write(start: int, stop: int) -> None:
            part = out[ends[start] : ends[stop]]
            write_lines(codes[start:stop], self.starts, self.bytes, mark, part)

        in_chunks(write, len(codes), least=1 << 14)
        return out.tobytes()

    def words(self, codes: NDArray[np.int64], skip: int, ending: bytes = b"") -> NDArray[np.uint64]:
        """Of each of these names with `ending` eight bytes behind the first `skip`, the first the heaviest.

        Example:
            >>> Names.of([b"no1", b"no12"]).words(np.array([0, 1]), skip=3).tolist() == [0, ord("2") << 56]
            True
        """
        out, mark = np.empty(len(codes), np.uint64), np.frombuffer(ending, np.uint8)
        pack_words(codes, self.starts, self.bytes, mark, skip, out)
        return out

    def name(self, code: int) -> str:
        """One name."""
        return self.bytes[self.starts[code] : self.starts[code + 1]].tobytes().decode()

    @functools.cached_property
    def tuple(self) -> tuple[str, ...]:
        """All names, by number."""
        return decoded(self.text(np.arange(len(self))[:, None]))


def decoded(lines: bytes) -> tuple[str, ...]:
    r"""The names that stand one a line.

    Example:
        >>> decoded(b"a\nb\n")
        ('a', 'b')
    """
    return tuple(lines.decode().split("\n")[:-1])


def _no_slots(names: int) -> NDArray[np.int64]:
    return np.full(1 << (2 * names).bit_length(), EMPTY, np.int64)


def _grown(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    out = np.zeros(size, array.dtype)
    out[:used] = array[:used]
    return out
