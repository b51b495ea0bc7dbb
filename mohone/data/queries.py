"""Files of queries: triples of which one part is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.errors import DataError
from mohone.data.columns import need_order
from mohone.data.headers import is_header
from mohone.data.knowledge_graph import KnowledgeGraph
from mohone.data.reading import FIELDS

ASKED = -1  # Stands for what is asked for in a triple of ids.
ASKED_SIGNS = ("", "?")


class QueryLines(NamedTuple):
    """Queries and the lines that they stand in, from 1: `(n, 3)` ids, `ASKED` for one of them, and `(n,)`."""

    triples: Tensor
    lines: list[int]


def asked_part(triple: tuple[int, int, int]) -> str:
    """What a query asks for: `head`, `relation` or `tail`.

    Example:
        >>> asked_part((3, ASKED, 4))
        'relation'
    """
    return FIELDS[triple.index(ASKED)]


def read_queries(path: Path, kg: KnowledgeGraph, size: int = 4096) -> Iterator[QueryLines]:
    """Read `head<TAB>relation<TAB>tail` lines of which one field is empty or `?`, batch by batch.

    Names are those of the data set, byte for byte; one that is called `?` cannot be asked about. Blank lines
    are skipped, and so is a first of the others that names columns, whose order is then this line's.

    Args:
        path: of the file.
        kg: has the names.
        size: of a batch; no more lines than that are held.

    Raises:
        DataError: a missing file; a line that is no query, with its number.
    """
    triples: list[tuple[int, int, int]] = []
    lines: list[int] = []
    order, first = list(range(len(FIELDS))), True
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip(b" \r\n"):
                    continue
                fields = _fields(path, number, line)
                is_first, first = first, False
                if is_first and is_header(fields, kg):
                    order = need_order(fields, FIELDS, f"{path}, line {number}")
                    continue
                triples.append(_query(path, number, fields, kg, order))
                lines.append(number)
                if len(triples) == size:
                    yield QueryLines(torch.tensor(triples), lines)
                    triples, lines = [], []
    except OSError as error:
        raise DataError(f"{path} must be a file of queries, but: {error.strerror}.") from None
    if triples:
        yield QueryLines(torch.tensor(triples), lines)


def _fields(path: Path, number: int, line: bytes) -> list[str]:
    text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    try:
        return text.decode("utf-8").removesuffix("\n").removesuffix("\r").split("\t")
    except UnicodeDecodeError:
        raise DataError(f"{path}, line {number}: the text must be UTF-8, but is not.") from None


def _query(
    path: Path, number: int, fields: list[str], kg: KnowledgeGraph, order: list[int]
) -> tuple[int, int, int]:
    n_asked = sum(field in ASKED_SIGNS for field in fields)
    if len(fields) != len(FIELDS) or n_asked != 1:
        raise DataError(
            f"{path}, line {number}: a query must have 3 fields (head, relation, tail, tab-separated), one "
            f"of them empty or `?`, but has {len(fields)}, {n_asked} of them so."
        )
    fields = [fields[place] for place in order]
    vocabularies = kg.entities, kg.relations, kg.entities
    head, relation, tail = (
        ASKED if field in ASKED_SIGNS else vocabulary.ids.get(field, ASKED - 1)
        for field, vocabulary in zip(fields, vocabularies, strict=True)
    )
    if ASKED - 1 in (head, relation, tail):
        unknown = (head, relation, tail).index(ASKED - 1)
        raise DataError(
            f"{path}, line {number}: the {FIELDS[unknown]} must be a name of the data set, but "
            f"{fields[unknown]!r} is none{vocabularies[unknown].names_like(fields[unknown])}."
        )
    return head, relation, tail
