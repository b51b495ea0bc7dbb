"""A knowledge graph of triples that are in memory: a list, an array or a data frame."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mohone.core.errors import DataError, first_line, require_float, require_int
from mohone.data.columns import field_of, find_columns
from mohone.data.headers import check_header, without_header_in_memory
from mohone.data.knowledge_graph import SPLITS, KnowledgeGraph, build_knowledge_graph
from mohone.data.reading import FIELDS, TripleFile
from mohone.data.splitting import split_triples, weights_of
from mohone.data.triples import NamedTriple, NamedTriples
from mohone.data.vocabulary import as_name

OWN_DATA = "data"  # In a job's folder: triples that came from memory.


def from_triples(
    triples: Any,
    valid: Any = None,
    test: Any = None,
    *,
    name: str = "memory",
    header: bool | None = None,
    weights: Any = None,
    share: float = 0.1,
    seed: int = 0,
) -> KnowledgeGraph:
    """Make the data set of triples in memory; what looks wrong in them is logged.

    Args:
        triples: those to train on; of valid and test, too, where these are not given. An iterable of
            `(head, relation, tail)`, an array `(n, 3)` or a data frame of pandas or polars. A data frame's
            columns are those named head, relation and tail (or subject, predicate, object and the like; that
            others were left out is logged), else it must have three. Names are text;
            integers are taken as they are written (7 is "7").
        valid, test: of the same kinds; both or neither.
        name: how the data set is called in tables.
        header: does the first triple name columns? None: if its words are such and stand nowhere else, or if
            those of all three splits are the same and do. The names of a data frame's columns stand apart.
        weights: of each of `triples`, numbers > 0 (those of train count); of a repeated triple the greatest.
        share: of each of valid and test, where they are drawn, as `split_triples` does.
        seed: of the draw.

    Raises:
        DataError: what is no triple of three names, an empty split, or one of valid and test without the
            other.

    Example:
        >>> kg = from_triples([("a", "r", "b")], valid=[("b", "r", "a")], test=[("a", "r", "a")])
        >>> kg.entities.names, kg.train.tolist()
        (('a', 'b'), [[0, 0, 1]])
    """
    if (valid is None) != (test is None):
        given, missing = ("test", "valid") if valid is None else ("valid", "test")
        raise DataError(f"`valid` and `test` must both be given, or neither, but {given} has no {missing}.")
    if not isinstance(name, str):
        raise DataError(f"`name` must be a text, but is {name!r}.")
    check_header(header)
    require_int("seed", seed, 0)
    require_float("share", share, 0.0, 0.5, strict=True)
    if header is None and any(isinstance(each, str) for each in _columns_of(triples)):
        header = False
    labels = ("triples", "valid", "test")
    given_as = zip(SPLITS, zip(labels, (triples, valid, test), strict=True), strict=True)
    files = {
        split: TripleFile(named_triples(each, label), 0)
        for split, (label, each) in given_as
        if each is not None or split == "train"
    }
    if weights is not None:
        checked = _weights(weights, len(files["train"].triples), getattr(triples, "index", None))
        files["train"] = files["train"]._replace(weights=checked)
    files, warnings = without_header_in_memory(files, header)
    if valid is None:
        files = _drawn(files["train"], share, seed)
    warnings = [*warnings, *_left_out(triples, weights is None)]
    kg = build_knowledge_graph(name, files, warnings)
    kg.report.log_warnings()
    return kg


def _columns_of(triples: Any) -> list[Any]:
    """What the columns of a data frame, or of a table of Arrow, are called; none of what is neither."""
    named = "column_names" if _has(triples, "column_names") else "columns"
    return list(getattr(triples, named, ()))


def _has(triples: Any, name: str) -> bool:
    """Has it this by its kind? A data frame's columns are attributes, too."""
    return hasattr(type(triples), name)


def _weights(given: Any, n: int, index: Any) -> NDArray[np.float32]:
    """One number for each triple.

    Args:
        given: an array, a list, a column of a data frame.
        n: of how many triples.
        index: of their data frame, where it is of pandas, whose columns come with theirs.

    Raises:
        DataError: what are no such numbers.
    """
    want = f"`weights` must be {n:,} numbers > 0, one for each triple"
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise DataError(f"{want}, but is {given!r}.")
    own: Any = getattr(given, "index", None)
    if hasattr(own, "equals") and hasattr(index, "equals") and not own.equals(index):
        raise DataError("`weights` must have the index of the triples' data frame, but has another.")
    try:
        values = np.asarray(given if hasattr(given, "__len__") else list(given))
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{want}, but: {first_line(error)}.") from error
    if values.shape != (n,):
        raise DataError(f"{want}, but are of the shape {values.shape}.")
    if values.dtype.kind not in "iuf" and (odd := [each for each in values.tolist() if not _is_real(each)]):
        raise DataError(f"{want}, but {odd[0]!r} is a {type(odd[0]).__name__}.")
    with np.errstate(over="ignore"):
        weights = values.astype(np.float32)
    bad = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
    if len(bad):
        number, value = int(bad[0]), values[bad[0]]
        raise DataError(f"{want}, in 32 bits, but that of triple {number:,} (from 0) is {value}.")
    return weights


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _drawn(read: TripleFile, share: float, seed: int) -> dict[str, TripleFile]:
    """Three splits of the triples of one, each with its weights."""
    drawn = split_triples(read.triples, share, seed)
    files = {split: TripleFile(NamedTriples.of(each), 0) for split, each in drawn.items()}
    if read.weights is not None:
        by_triple = weights_of(read.triples, read.weights.tolist())
        weights = np.array([by_triple[each] for each in drawn["train"]], np.float32)
        files["train"] = files["train"]._replace(weights=weights)
    return files


def named_triples(triples: Any, label: str = "triples") -> NamedTriples:
    """Triples of any of these kinds, checked.

    Args:
        label: what they are called in messages.

    Raises:
        DataError: what is no triple of three names.
    """
    try:
        return NamedTriples.of(itertools.starmap(_names, enumerate(_rows(triples))))
    except DataError as error:
        raise DataError(f"`{label}`: {error}") from None


def _rows(triples: Any) -> Iterable[Sequence[object]]:
    """The rows of whatever it is."""
    if _has(triples, "collect"):
        raise DataError("a lazy frame must be collected (`.collect()`), but is not.")
    if _has(triples, "column_names") or getattr(triples, "columns", None) is not None:
        return _frame_rows(triples, _columns_of(triples))
    shape = getattr(triples, "shape", None)
    if shape is not None:
        if len(shape) != 2 or shape[1] != 3:
            raise DataError(f"an array must be (n, 3), but is {tuple(shape)}.")
        if getattr(triples, "is_sparse", False):
            raise DataError("an array must be dense, but is sparse.")
        rows: Iterable[Sequence[object]] = triples.tolist()
        return rows
    if isinstance(triples, str | bytes) or not isinstance(triples, Iterable):
        raise DataError(
            "there must be a list of (head, relation, tail), an array or a data frame, "
            f"but there is a {type(triples).__name__}."
        )
    return triples


def _frame_rows(frame: Any, labels: list[Any]) -> Iterable[Sequence[object]]:
    names = [str(each) for each in labels]
    places = find_columns(names, FIELDS, "the data frame")
    if places is None:
        raise DataError(
            f"a data frame must have the columns {', '.join(FIELDS)}, or three, but has {', '.join(names)}."
        )
    chosen = [labels[place] for place in places]
    if twice := next((each for each in chosen if labels.count(each) > 1), None):
        raise DataError(f"a data frame's columns must have names of their own, but several are {twice!r}.")
    return zip(*map(_listed, (frame[each] for each in chosen)), strict=True)


def _listed(column: Any) -> list[object]:
    values: list[object] = (column.to_pylist if hasattr(column, "to_pylist") else column.to_list)()
    return values


def _left_out(triples: Any, lacks_weights: bool) -> list[str]:
    """What is said of the columns of a data frame, whose triples were read, that are none of these."""
    names = [str(each) for each in _columns_of(triples)]
    places = find_columns(names, FIELDS, "the data frame") if names else None
    others = [name for place, name in enumerate(names) if place not in (places or ())]
    if not others:
        return []
    named = ", ".join(map(repr, others))
    said = f"the column {named} was" if len(others) == 1 else f"the columns {named} were"
    hint = next((name for name in others if field_of(name) == "weight"), None) if lacks_weights else None
    weighs = f"; `weights=frame[{hint!r}]` would weigh triples by it" if hint is not None else ""
    return [f"{said} left out of the data frame{weighs}"]


def _names(number: int, row: Any) -> NamedTriple:
    if isinstance(row, str | bytes | Mapping) or not hasattr(row, "__getitem__") or len(row) != 3:
        raise DataError(f"Triple {number:,} (from 0) must be (head, relation, tail), but is {row!r}.")
    return _name(row[0], number, row), _name(row[1], number, row), _name(row[2], number, row)


def _name(value: object, number: int, row: object) -> str:
    name = as_name(value)
    if name is None:
        raise DataError(
            f"Triple {number:,} (from 0) must hold names, texts or integers, but has {value!r} in {row!r}."
        )
    return name
