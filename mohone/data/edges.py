"""A graph of any kind as a list of edges: two nodes a line, a triple, or two nodes and a weight."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mohone.core.errors import DataError
from mohone.core.words import counted
from mohone.data.columns import field_of, need_order
from mohone.data.headers import names_columns
from mohone.data.names import Codes, Names
from mohone.data.ordering import sorted_numbers
from mohone.data.parquet import count_columns
from mohone.data.reading import FIELDS, first_line, numbers_of, read_table
from mohone.data.separators import advice, kind, separator
from mohone.data.triples import Table

PAIR = ("one node", "other node")
_WEIGHTED_PAIR = (*PAIR, "weight")
_COMMENTS = ("#", "%", "//")
_WEIGHTED_ENDS = ("head", "tail", "weight")  # As columns are called.


@dataclass(frozen=True)
class Edges:
    """The edges of a file, repeated ones too.

    Attributes:
        names: of the nodes, in the order of code points.
        ends: `(n, 2)` int64 node numbers.
        weights: `(n,)` float32, > 0; None: there are none.
        notes: sentences on what the file was taken for.
    """

    names: tuple[str, ...]
    ends: Tensor
    weights: Tensor | None
    notes: tuple[str, ...]


def read_edges(
    path: Path, delimiter: str = "\t", header: bool | None = None, weights: bool | None = None
) -> Edges:
    """Read lines of two nodes, of triples, or of two nodes and a weight; the first that is not blank decides.

    Args:
        header: does the first line name the columns, whose order is then this line's? None: if its words are
            such as columns are called by, and stand nowhere else.
        weights: is the third field a weight? None: if a header calls one so, or if all are numbers that no
            node is called by, while a second field names a node that a first field does, too.

    Raises:
        DataError: as `read_triples`; a third field that holds numbers alone and may be either.
    """
    fields = _fields(path, separator(delimiter), weights)
    table = read_table(path, delimiter, fields)
    codes, notes = table.codes, []
    first = int(header is True)
    if header is None and names_columns(table.names, codes):
        line = ", ".join(table.names.name(code) for code in codes[0])
        notes.append(f"the first line ({line}) is taken for the names of columns: --no-header keeps it")
        first = 1
    words = [table.names.name(code) for code in codes[0]] if first and len(codes) else []
    columns = [0, 1] if fields == PAIR else _places(path, words, weights)
    if weights is None and len(columns) == len(FIELDS):
        notes.append(f"the column {words[columns[2]]} is taken for weights: --no-weights keeps it")
    is_open = weights is None and fields == FIELDS and len(columns) == len(PAIR)
    if is_open and "relation" not in map(field_of, words) and _third_is_weight(path, table, first):
        notes.append("the third column holds numbers alone, and is taken for weights: --no-weights keeps it")
        columns = [0, 1, 2]
    values = torch.from_numpy(numbers_of(path, table, first, columns[2])) if columns[2:] else None
    names, ends = _numbered(table.names, codes[first:, columns[:2]])
    return Edges(names, ends, values, tuple(notes))


def _places(path: Path, words: list[str], weights: bool | None) -> list[int]:
    """The columns of both nodes among three, and of the weight if there is one, by what they are called."""
    called = set(map(field_of, words))
    if weights or (weights is None and called == set(_WEIGHTED_ENDS)):
        return need_order(words, _WEIGHTED_ENDS, path) if words else [0, 1, 2]
    head, _, tail = need_order(words, FIELDS, path) if words and "weight" not in called else (0, 1, 2)
    return [head, tail]


def _fields(path: Path, delimiter: str, weights: bool | None) -> tuple[str, ...]:
    """What the fields of the file are, by its first line."""
    if weights:
        return _WEIGHTED_PAIR
    if path.suffix == ".parquet":
        return PAIR if count_columns(path) == len(PAIR) else FIELDS
    number, line = first_line(path)
    n = line.count(delimiter) + 1
    if line and n not in (len(PAIR), len(FIELDS)):
        no_comment = "; there are no lines of comment" if line.startswith(_COMMENTS) else ""
        raise DataError(
            f"{path}, line {number}: found {counted(n, 'field')}, wanted {len(PAIR)} "
            f"({', '.join(PAIR)}) or {len(FIELDS)} ({', '.join(FIELDS)}, or two nodes and a weight), "
            f"{kind(delimiter)}{no_comment}{advice(line, delimiter, {2, 3})}."
        )
    return PAIR if n == len(PAIR) else FIELDS


def _third_is_weight(path: Path, table: Table, first: int) -> bool:
    """Are the third fields weights? Not if one is no number; else by what the first fields hold, too."""
    names, codes = table.names, table.codes[first:]
    thirds = np.unique(codes[:, 2]).tolist()
    if not all(_is_number(names.name(code)) for code in thirds) or not thirds:
        return False
    shared = [bool(np.isin(codes[:, column], codes[:, 0]).any()) for column in (1, 2)]
    if shared[0] == shared[1]:
        raise DataError(
            f"{path}: the third field of all lines is a number, a weight of an edge or the name of a "
            "node: `--weights` says that it is a weight, `--no-weights` that it is a node."
        )
    return shared[0]


def _is_number(name: str) -> bool:
    """Also one that can be no weight, or has a decimal comma: reading it as a weight then says so."""
    try:
        float(name.replace(",", "."))
    except ValueError:
        return False
    return True


def _numbered(names: Names, codes: Codes) -> tuple[tuple[str, ...], Tensor]:
    """The nodes' names in order, and their numbers."""
    is_node = np.zeros(len(names), bool)
    is_node[codes] = True
    order = sorted_numbers(names)
    order = order[is_node[order]]
    numbers = np.zeros(len(names), np.int64)
    numbers[order] = np.arange(len(order))
    return tuple(names.tuple[code] for code in order.tolist()), torch.from_numpy(numbers[codes])
