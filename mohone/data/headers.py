"""First lines that name columns instead of holding a triple: found, or said to be there or not."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mohone.core.errors import ConfigError
from mohone.data.columns import field_of, need_order, order_of
from mohone.data.names import Codes, Names
from mohone.data.reading import FIELDS, WEIGHTED, TripleFile, read_triples

if TYPE_CHECKING:  # Splitting a file needs no torch.
    from mohone.data.knowledge_graph import KnowledgeGraph

log = logging.getLogger(__name__)


def read_splits(
    paths: Mapping[str, Path], delimiter: str, header: bool | None, weights: bool
) -> tuple[dict[str, TripleFile], list[str]]:
    """Read train, valid and test, and what is to be said of their first lines.

    Columns come in the order that a first line says which names them.

    Args:
        header: are their first lines none of the triples? None: if all are the same, or such words as
            columns are called by, and stand nowhere else.
    """
    check_header(header)
    files = {split: read_triples(path, delimiter, header, weights) for split, path in paths.items()}
    is_open = header is None and not any(path.suffix == ".parquet" for path in paths.values())
    if is_open and have_header(files):
        files = {split: drop_first(file, paths[split]) for split, file in files.items()}
        return files, [
            f"{_taken('line of all files', files['train'])} `dataset.header=false` keeps it as a triple"
        ]
    for split, file in files.items():
        _check_first(paths[split], delimiter, file)
    return files, _kept_as_triples(files, "line") if is_open else []


def _check_first(path: Path, delimiter: str, file: TripleFile) -> None:
    """Refuse a first line that has no weight, once it is known to be a triple."""
    if file.weights is not None and len(file.weights) and not file.weights[0]:
        read_triples(path, delimiter, False, weights=True)  # Says what is wrong with it.


def have_header(files: Mapping[str, TripleFile]) -> bool:
    """Are the first lines of all splits the same, or names of columns, of words that stand nowhere else?

    Some splits may have nothing but a line that names columns.
    """
    rest = [file.triples for file in files.values() if not stands_alone(file.triples.codes)]
    if len(rest) == len(files) or not all(len(each) == 1 and _all_known(each[0]) for each in rest):
        return False
    lines = {file.triples[0] for file in files.values()}
    return len(lines) == 1 or all(_all_known(words) for words in lines)


def without_header_in_memory(
    files: dict[str, TripleFile], header: bool | None
) -> tuple[dict[str, TripleFile], list[str]]:
    """Triples in memory without a first one that names columns, and what is then to be said.

    Args:
        files: all splits, or one that is yet to be split.
        header: as of `read_splits`; of a single one it must be such words as columns are called by.
    """
    first = next(iter(files.values()))
    is_found = (
        have_header(files) if len(files) > 1 else names_columns(first.triples.names, first.triples.codes)
    )
    if header is False:
        return files, []
    if header is None and not is_found:
        return files, _kept_as_triples(files, "triple")
    files = {split: drop_first(file, "The first triple") for split, file in files.items()}
    kept = "`header=False` keeps it as a triple"
    return files, [] if header else [f"{_taken('triple', next(iter(files.values())))} {kept}"]


def _kept_as_triples(files: Mapping[str, TripleFile], what: str) -> list[str]:
    """Of first lines that some files have for names of columns, and others have not: a sentence."""
    if len(files) == 1:
        return []
    having = [split for split, file in files.items() if names_columns(file.triples.names, file.triples.codes)]
    if not having:
        return []
    words = ", ".join(files[having[0]].triples[0])
    return [
        f"the first {what} of {' and '.join(having)} ({words}) seems to name columns, but is kept as a "
        f"triple, since not all of {', '.join(files)} have such a one: take it out, or give it to all"
    ]


def is_header(words: Sequence[str], kg: KnowledgeGraph) -> bool:
    """Are these such words as columns are called by, and none of them a name of the data set?"""
    known = kg.entities.ids, kg.relations.ids
    return _all_known(words) and not any(word in ids for word in words for ids in known)


def without_known_header(path: Path, file: TripleFile, kg: KnowledgeGraph) -> TripleFile:
    """A file of triples of a data set, without a first line that names columns; the log says so."""
    if not len(file.triples) or not is_header(file.triples[0], kg):
        return file
    log.warning("%s: the first line (%s) names columns.", path, ", ".join(file.triples[0]))
    return drop_first(file, path)


def without_header(path: Path, file: TripleFile, delimiter: str) -> tuple[TripleFile, str]:
    """A single file without its first line if that names columns, and what is then to be said."""
    if not names_columns(file.triples.names, file.triples.codes):
        _check_first(path, delimiter, file)
        return file, ""
    file = drop_first(file, path)
    return file, f"{_taken('line', file)} --no-header keeps it"


def names_columns(names: Names, codes: Codes) -> bool:
    """Do the words of the first line stand nowhere else, and are they such as columns are called by?"""
    return stands_alone(codes) and _all_known([names.name(code) for code in codes[0]])


def check_header(header: object) -> None:
    """Refuse what is neither true nor false nor left open."""
    if header is not None and not isinstance(header, bool):
        raise ConfigError(f"`dataset.header` must be true, false or null, but is {header!r}.")


def stands_alone(codes: Codes) -> bool:
    """Are there more lines than one, and is no word of the first in any other?"""
    return len(codes) > 1 and not np.isin(codes[1:], codes[0]).any()


def drop_first(file: TripleFile, source: object) -> TripleFile:
    """The file without its first triple, which is a header, and with columns in the order that it says.

    Args:
        source: where the triples are from, for messages.

    Raises:
        DataError: a header that names another order, but not all of it.
    """
    if not len(file.triples):
        return file
    words = file.triples[0]
    triples = file.triples[1:].ordered(need_order(words, FIELDS, source))
    weights = None if file.weights is None else file.weights[1:]
    return file._replace(triples=triples, weights=weights, header=file.header or words)


def _all_known(words: Sequence[str]) -> bool:
    return all(field_of(word) for word in words)


def _taken(where: str, file: TripleFile) -> str:
    words = file.header or ()
    order = order_of(words, WEIGHTED[: len(words)])
    moved = "" if order == sorted(order or ()) else ", in this order"
    return (
        f"the first {where} ({', '.join(words)}) is taken for the names of columns{moved}, "
        "since its words stand nowhere else:"
    )
