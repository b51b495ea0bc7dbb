"""The loops over the bytes of triples, compiled: lines to fields, fields to numbers, numbers to lines."""

from __future__ import annotations

import numpy as np
from numba import njit

from mohone.core.parallel import Array

# How a scan of lines ended.
DONE, FULL, FAULT = 0, 1, 2
EMPTY = -1  # A slot of the hash table without a name.
_CODE = 0xFFFFFFFF
_BATCH = 1 << 10
_NEWLINE, _RETURN, _TAB, _BLANK = 10, 13, 9, 32


@njit(cache=True, nogil=True)
def scan_lines(
    text: Array,
    delimiter: Array,
    codes: Array,
    found: Array,
    slots: Array,
    hashes: Array,
    starts: Array,
    pool: Array,
    n: Array,
) -> int:
    """Read lines that all end, and number their fields.

    Args:
        text: `(n_bytes,)`.
        delimiter: its bytes.
        codes: `(room, n_columns)`, written from row `found[1]` on.
        found: place in the text, rows, lines, blank lines, which go on from what they are; and how many
            rows and bytes there must be room for, if it is full.
        slots, hashes, starts, pool, n: of `Names`.

    Returns:
        `DONE`; `FULL`: `codes` or the pool must grow first; `FAULT`: the line at the place is none.
    """
    n_columns = codes.shape[1]
    first, last = np.empty((_BATCH, n_columns), np.int64), np.empty((_BATCH, n_columns), np.int64)
    only_tabs = len(delimiter) == 1 and delimiter[0] == _TAB
    sound = True
    while sound and found[0] < len(text):
        rows, blank, end = 0, 0, found[0]
        while sound and rows < _BATCH and end < len(text):
            start = end
            while text[end] != _NEWLINE:
                end += 1
            stop = end - 1 if end > start and text[end - 1] == _RETURN else end
            i = start
            while i < stop and text[i] == _BLANK:
                i += 1
            if i == stop:
                blank += 1
            elif _split(text, start, stop, delimiter, only_tabs, first[rows], last[rows]):
                rows += 1
            else:
                sound, end = False, start - 1
            end += 1
        full = found[1] + rows > len(codes) or n[0] + rows * n_columns > len(hashes)
        if full or starts[n[0]] + end - found[0] > len(pool):
            found[4], found[5] = rows, end - found[0]
            return FULL
        into = codes[found[1] : found[1] + rows].reshape(-1)
        number_all(
            text, first[:rows].reshape(-1), last[:rows].reshape(-1), into, slots, hashes, starts, pool, n
        )
        found[0] = end
        found[1] += rows
        found[2] += rows + blank
        found[3] += blank
    return DONE if sound else FAULT


@njit(cache=True, nogil=True)
def _split(
    text: Array, start: int, stop: int, delimiter: Array, only_tabs: bool, first: Array, last: Array
) -> bool:
    """Find the fields of a line; False: there are more, or fewer, or one is empty or holds a tab."""
    column, i, width = 0, start, len(delimiter)
    first[0] = start
    while i < stop:
        same = text[i] == delimiter[0] and i + width <= stop
        for k in range(1, width):
            same = same and text[i + k] == delimiter[k]
        if same:
            if i == first[column] or column + 1 == len(first):
                return False
            last[column] = i
            column += 1
            i += width
            first[column] = i
        else:
            if text[i] == _TAB and not only_tabs:
                return False
            i += 1
    last[column] = stop
    return column + 1 == len(first) and stop > first[column]


@njit(cache=True, nogil=True)
def number_all(
    text: Array,
    first: Array,
    last: Array,
    codes: Array,
    slots: Array,
    hashes: Array,
    starts: Array,
    pool: Array,
    n: Array,
) -> None:
    """Number the names `text[first[i]:last[i]]`, a new one if it is new; there must be room.

    The memory that a name needs is first asked for, then used, a batch of names at a time: a processor waits
    for many places at once as long as for one.
    """
    mask = np.uint64(len(slots) - 1)
    values, near = np.empty(_BATCH, np.uint64), np.empty(_BATCH, np.int64)
    for begin in range(0, len(first), _BATCH):
        size = min(_BATCH, len(first) - begin)
        for i in range(size):
            values[i] = _hash(text, first[begin + i], last[begin + i])
        for i in range(size):
            near[i] = slots[np.int64(values[i] & mask)]
        for i in range(size):
            near[i] = starts[near[i] & _CODE] if near[i] != EMPTY else 0
        touched = 0
        for i in range(size):
            touched += pool[near[i]]
        near[0] = touched  # So that no compiler leaves the touching out.
        for i in range(size):
            a, b = first[begin + i], last[begin + i]
            codes[begin + i] = _number(text, a, b, values[i], slots, hashes, starts, pool, n)


@njit(cache=True, nogil=True, inline="always")
def _hash(text: Array, first: int, last: int) -> np.uint64:
    """FNV-1a, mixed once more for the low bits."""
    value = np.uint64(14695981039346656037)
    for i in range(first, last):
        value = (value ^ np.uint64(text[i])) * np.uint64(1099511628211)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return value ^ (value >> np.uint64(32))


@njit(cache=True, nogil=True)
def _number(
    text: Array,
    first: int,
    last: int,
    value: np.uint64,
    slots: Array,
    hashes: Array,
    starts: Array,
    pool: Array,
    n: Array,
) -> int:
    mask = len(slots) - 1
    mark = np.int64(value >> np.uint64(33))
    place = np.int64(value & np.uint64(mask))
    while slots[place] != EMPTY:
        if slots[place] >> 32 == mark:
            code = slots[place] & _CODE
            begin = starts[code]
            same = starts[code + 1] - begin == last - first
            i = 0
            while same and i < last - first:
                same = pool[begin + i] == text[first + i]
                i += 1
            if same:
                return int(code)
        place = (place + 1) & mask
    code = n[0]
    slots[place] = (mark << 32) | code
    hashes[code] = value
    begin = starts[code]
    for i in range(last - first):
        pool[begin + i] = text[first + i]
    starts[code + 1] = begin + last - first
    n[0] += 1
    return int(code)


@njit(cache=True, nogil=True)
def fill_slots(slots: Array, hashes: Array, n: int) -> None:
    """Put the first `n` names of a pool into a hash table that is empty."""
    mask = len(slots) - 1
    for code in range(n):
        place = np.int64(hashes[code] & np.uint64(mask))
        while slots[place] != EMPTY:
            place = (place + 1) & mask
        slots[place] = (np.int64(hashes[code] >> np.uint64(33)) << 32) | code


@njit(cache=True, nogil=True)
def write_lines(codes: Array, starts: Array, pool: Array, ending: Array, out: Array) -> None:
    """Write rows of names into `out`, with a tab between names and an ending after each row."""
    place = 0
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            if column:
                out[place] = _TAB
                place += 1
            code = codes[row, column]
            for i in range(starts[code], starts[code + 1]):
                out[place] = pool[i]
                place += 1
        for i in range(len(ending)):
            out[place] = ending[i]
            place += 1


@njit(cache=True, nogil=True)
def pack_words(codes: Array, starts: Array, pool: Array, ending: Array, skip: int, out: Array) -> None:
    """Of each of these names with an ending the eight bytes from `skip` on as one number; 0 behind."""
    for row in range(len(codes)):
        word, begin = np.uint64(0), starts[codes[row]]
        size = starts[codes[row] + 1] - begin
        for i in range(skip, skip + 8):
            word <<= np.uint64(8)
            if i < size:
                word |= np.uint64(pool[begin + i])
            elif i < size + len(ending):
                word |= np.uint64(ending[i - size])
        out[row] = word
