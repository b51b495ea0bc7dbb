"""Triples in memory, of any kind that people have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mohone.core.errors import ConfigError, DataError
from mohone.data import KnowledgeGraph, from_triples
from tests.helpers.graphs import BASE, kg_of

TRAIN, VALID, TEST = ([tuple(line.split()) for line in BASE[split]] for split in BASE)


def assert_same(one: KnowledgeGraph, other: KnowledgeGraph) -> None:
    assert one.fingerprint == other.fingerprint
    assert one.entities.names == other.entities.names
    assert one.relations.names == other.relations.names
    assert all(torch.equal(getattr(one, split), getattr(other, split)) for split in BASE)


class Series(list[str]):
    def to_list(self) -> list[str]:
        return list(self)


class Frame:
    """What pandas and polars have in common."""

    def __init__(self, columns: dict[str, list[str]]) -> None:
        self.columns = list(columns)
        self.data = columns

    def __getitem__(self, column: str) -> Series:
        return Series(self.data[column])


def columns(triples: list[tuple[str, ...]], *names: str) -> dict[str, list[str]]:
    return {name: list(values) for name, values in zip(names, zip(*triples, strict=True), strict=True)}


@pytest.mark.parametrize(
    "kind",
    [list, iter, np.array, lambda t: np.array(t, object), lambda t: [np.array(x) for x in t]],
    ids=["list", "generator", "array", "objects", "arrays"],
)
def test_lists_and_arrays_make_the_graph_of_the_files(kind: Any) -> None:
    assert_same(from_triples(kind(TRAIN), kind(VALID), kind(TEST)), kg_of(BASE))


@pytest.mark.parametrize("library", ["pandas", "polars", "stub"])
def test_data_frames_make_the_graph_of_the_files(library: str) -> None:
    make = Frame if library == "stub" else pytest.importorskip(library).DataFrame
    frames = [make(columns(part, "a", "b", "c")) for part in (TRAIN, VALID, TEST)]
    assert_same(from_triples(*frames), kg_of(BASE))
    named = make(columns([(*t, t[0]) for t in TRAIN], "tail", "x", "head", "relation"))
    kg = from_triples(named, VALID, TEST)
    swapped = [(t[2], t[0], t[0]) for t in TRAIN]
    assert_same(kg, from_triples(swapped, VALID, TEST))


def test_what_was_left_out_of_a_data_frame_is_said() -> None:
    frame = Frame(columns([(*t, t[0], "1") for t in TRAIN], "h", "r", "t", "note", "score"))
    (said,) = from_triples(frame, VALID, TEST).report.warnings[:1]
    assert said.startswith(
        "the columns 'note', 'score' were left out of the data frame; `weights=frame['score']`"
    )
    kg = from_triples(frame, VALID, TEST, weights=[2.0] * len(TRAIN))
    assert kg.report.warnings[0] == "the columns 'note', 'score' were left out of the data frame"
    assert not any("left out" in each for each in from_triples(TRAIN, VALID, TEST).report.warnings)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0], r"but are of the shape \(1,\)"),
        (["1"] * len(TRAIN), "but '1' is a str"),
        ([True] * len(TRAIN), "but True is a bool"),
        ([None, *[1.0] * (len(TRAIN) - 1)], "but None is a NoneType"),
        ("weight", "but is 'weight'"),
        ([1.0, -2.0, *[1.0] * (len(TRAIN) - 2)], r"in 32 bits, but that of triple 1 \(from 0\) is -2\.0"),
        ([1e300, *[1.0] * (len(TRAIN) - 1)], r"in 32 bits, but that of triple 0 \(from 0\) is 1e\+300"),
        ([[1.0], [1.0, 2.0]], "but: "),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_are_no_weights_is_said(weights: Any, said: str) -> None:
    with pytest.raises(DataError, match=rf"^`weights` must be {len(TRAIN):,} numbers > 0, .*{said}"):
        from_triples(TRAIN, VALID, TEST, weights=weights)


def test_weights_of_any_kind_are_taken() -> None:
    numbers = [0.5 + i for i in range(len(TRAIN))]
    first = from_triples(TRAIN, VALID, TEST, weights=numbers)
    for weights in (iter(numbers), np.array(numbers), torch.tensor(numbers), np.array(numbers, object)):
        assert_same(from_triples(TRAIN, VALID, TEST, weights=weights), first)


def test_a_column_of_another_order_is_no_weight() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns(TRAIN, "h", "r", "t"))
    series = pandas.Series([1.0] * len(TRAIN))
    from_triples(frame, VALID, TEST, weights=series)
    with pytest.raises(DataError, match="`weights` must have the index of the triples' data frame"):
        from_triples(frame, VALID, TEST, weights=series.iloc[::-1])


def test_tables_of_arrow_are_read_and_what_cannot_be_is_said() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({**columns(TRAIN, "t", "x", "h"), "relation": [t[1] for t in TRAIN]})
    assert_same(from_triples(table, VALID, TEST), from_triples([t[::-1] for t in TRAIN], VALID, TEST))
    sparse = torch.zeros(4, 3, dtype=torch.long).to_sparse()
    with pytest.raises(DataError, match="an array must be dense, but is sparse"):
        from_triples(sparse)
    with pytest.raises(ConfigError, match="`share` must be"):
        from_triples(TRAIN, share="a")


def test_a_lazy_frame_is_to_be_collected() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(DataError, match="a lazy frame must be collected"):
        from_triples(polars.DataFrame(columns(TRAIN, "h", "r", "t")).lazy())


def test_integers_are_names() -> None:
    ids = np.array([[7, 0, 12], [12, 0, 7]])
    for given in (ids, ids.tolist(), torch.from_numpy(ids)):
        assert from_triples(given, [(7, 0, 7)], [(12, 0, 12)]).entities.names == ("12", "7")


def test_without_splits_they_are_drawn_by_seed() -> None:
    triples = [(f"e{i}", "r", f"e{(i * k) % 40}") for i in range(40) for k in (3, 7, 11)]
    kg = from_triples(triples, seed=3, share=0.2)
    again = from_triples(reversed(triples), seed=3, share=0.2)
    assert_same(kg, again)
    assert kg.seen_entities.all()
    assert len(kg.valid) == len(kg.test) == round(0.2 * len(set(triples)))
    assert from_triples(triples, seed=4, share=0.2).fingerprint != kg.fingerprint


def test_names_are_kept_as_they_are() -> None:
    names = [" a", "a ", "A", "\ufeffa", "a\r", "\x00", "'a'", '"', "01", "1", "\u6771"]
    kg = from_triples([(name, "r\r", name) for name in names], [(names[0], "r\r", "1")], [("1", "r\r", "1")])
    assert kg.entities.names == tuple(sorted(names))
    assert kg.relations.names == ("r\r",)


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        (
            [("a", "r", "b"), ("a", "r")],
            r"`triples`: Triple 1 \(from 0\) must be \(head, relation, tail\), but is \('a', 'r'\)\.$",
        ),
        (
            [("a", "r", "b"), ("", "r", "b")],
            r"Triple 1 \(from 0\) must hold three names, none empty .* is \('', 'r', 'b'",
        ),
        ([("a", "r", "b\nc")], "or with a tab or an end of line"),
        ([("a", "r", "b\tc")], r"Triple 0 \(from 0\) must hold three names"),
        ([("a", "r", "\ud800")], r"Triple 0 \(from 0\) must hold text"),
        ([("a", "r", 0.5)], r"must hold names, texts or integers, but has 0.5 in \('a', 'r', 0.5\)"),
        ([("a", "r", "b")] * 4 + [("a", "r", None)], r"Triple 4 \(from 0\) must hold names, .* has None in"),
        (np.array([["a", "r", "b"], [np.nan, "r", "b"]], object), r"Triple 1 \(from 0\) must .* has nan in"),
        (Frame({"a": ["x", "x"], "b": ["y", None], "c": ["z", "z"]}), r"Triple 1 \(from 0\) .* has None in"),  # type: ignore[list-item]
        ([("a", "r", "b")] * 70_000 + [("a", "", "b")], r"Triple 70,000 \(from 0\) must hold three names"),
        (["arb"], r"Triple 0 \(from 0\) must be"),
        ("a\tr\tb", "there must be a list .* but there is a str"),
        (7, "there must be a list .* but there is a int"),
        (np.zeros((3, 2)), r"an array must be \(n, 3\), but is \(3, 2\)"),
        (
            Frame({"a": ["b"], "c": ["d"]}),
            "must have the columns head, relation, tail, or three, but has a, c",
        ),
        ([], "The train split of memory must hold triples, but is empty"),
    ],
)
def test_what_is_no_triple_is_refused_in_a_sentence(triples: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_triples(triples, VALID, TEST)


def test_valid_and_test_come_together() -> None:
    with pytest.raises(DataError, match="both be given, or neither, but valid has no test"):
        from_triples(TRAIN, valid=VALID)


HEADER = ("Head", "relation", "TAIL")


def test_a_first_triple_that_names_columns_is_none() -> None:
    splits = [[HEADER, *each] for each in (TRAIN, VALID, TEST)]
    kg = from_triples(np.array(splits[0]), valid=splits[1], test=splits[2])
    assert_same(kg, kg_of(BASE))
    (warning,) = kg.report.warnings
    assert warning == (
        "the first triple (Head, relation, TAIL) is taken for the names of columns, since its words stand "
        "nowhere else: `header=False` keeps it as a triple"
    )
    assert "TAIL" in from_triples(splits[0], valid=VALID, test=TEST).entities.ids  # Not of all splits.
    assert "TAIL" in from_triples(splits[0], splits[1], splits[2], header=False).entities.ids


def test_of_one_list_the_first_triple_must_have_words_of_columns() -> None:
    triples = [(f"e{i}", "r", f"e{(i * k) % 20}") for i in range(20) for k in (3, 7, 9)]
    plain = from_triples(triples)
    with_header = from_triples([HEADER, *triples])
    assert_same(with_header, plain)
    assert with_header.report.warnings[0].startswith("the first triple (Head, relation, TAIL) is taken for")
    assert "x" in from_triples([("x", "y", "z"), *triples]).entities.ids
    assert "Head" in from_triples([HEADER, *triples], header=False).entities.ids
    assert "e0" in from_triples([*triples], header=True).entities.ids  # Stands elsewhere, too.
    frame = Frame(columns([HEADER, *triples], "head", "relation", "tail"))
    assert "Head" in from_triples(frame).entities.ids


def test_a_column_may_be_called_as_other_kinds_are_known_by() -> None:
    frame = Frame(columns([(*t, "", "") for t in TRAIN], "h", "r", "t", "collect", "column_names"))
    frame.collect = frame.column_names = ["x"]  # type: ignore[attr-defined]  # As pandas has its columns.
    kg = from_triples(frame, VALID, TEST)
    assert kg.fingerprint == from_triples(TRAIN, VALID, TEST).fingerprint
    assert kg.report.warnings[0].startswith("the columns 'collect', 'column_names' were left out")
