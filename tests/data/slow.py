"""Reading as anyone would write it: a line after another, and dictionaries. The oracle of the fast one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from mohone.core.errors import DataError
from mohone.core.words import counted
from mohone.data.reading import FIELDS
from mohone.data.separators import advice, kind

Triple = tuple[str, str, str]


class Graph(NamedTuple):
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    triples: list[list[list[int]]]
    fingerprint: str


def read_triples(path: Path, delimiter: str) -> tuple[list[Triple], int]:
    """The triples and the number of blank lines; the first line that is at fault is named."""
    triples, n_blank = [], 0
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, raw in enumerate(lines, 1):
        try:
            line = raw.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            raise DataError(
                f"{path}, line {number}: the text must be UTF-8, but holds the byte 0x{byte:02X}."
            ) from None
        fields = line.split(delimiter)
        if not line.strip(" "):
            n_blank += 1
        elif len(fields) != 3:
            wanted = f"wanted 3 ({', '.join(FIELDS)}, {kind(delimiter)})"
            more = advice(line, delimiter, {3})
            raise DataError(f"{path}, line {number}: found {counted(len(fields), 'field')}, {wanted}{more}.")
        elif not all(fields):
            empty = FIELDS[[bool(field) for field in fields].index(False)]
            raise DataError(f"{path}, line {number}: the {empty} must be a name, but is empty.")
        elif delimiter != "\t" and "\t" in line:
            raise DataError(f"{path}, line {number}: a name must not hold a tab, but one does.")
        else:
            triples.append((fields[0], fields[1], fields[2]))
    return triples, n_blank


def build(files: dict[str, list[Triple]]) -> Graph:
    """Names in order, unique triples of ids in order, and the fingerprint."""
    every = [triple for triples in files.values() for triple in triples]
    entities = sorted({name for h, _, t in every for name in (h, t)})
    relations = sorted({r for _, r, _ in every})
    ids = [
        sorted({(entities.index(h), relations.index(r), entities.index(t)) for h, r, t in triples})
        for triples in files.values()
    ]
    digests = ":".join(fingerprint(triples) for triples in files.values())
    return Graph(
        tuple(entities),
        tuple(relations),
        [[list(triple) for triple in split] for split in ids],
        hashlib.sha256(digests.encode()).hexdigest(),
    )


def fingerprint(triples: list[Triple]) -> str:
    """sha256 of the sorted unique lines."""
    lines = sorted({"\t".join(triple) for triple in triples})
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
