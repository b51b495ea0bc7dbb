"""Columns in another order, where their names say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mohone.core.errors import DataError
from mohone.data import FolderDataset, KnowledgeGraph, from_triples
from mohone.data.columns import order_of
from mohone.data.edges import read_edges
from mohone.data.named_triples import read_known
from mohone.data.queries import ASKED, read_queries
from mohone.data.reading import FIELDS, read_triples
from mohone.split import main
from tests.data.test_memory import Frame, columns
from tests.helpers.graphs import BASE, kg_of, write_folder


def moved(line: str, order: str) -> str:
    """The line `h r t w` with these of its fields."""
    return " ".join(dict(zip("hrtw", line.split(), strict=False))[field] for field in order)


def with_header(header: str, order: str, weight: str = "") -> dict[str, list[str]]:
    """The base in another order, each line twice, with a header."""
    lines = {split: [moved(f"{line} {weight}", order) for line in each * 2] for split, each in BASE.items()}
    return {split: [header, *each] for split, each in lines.items()}


ORDERS = [
    ("subject object predicate", "htr"),
    ("Tail HEAD Relation", "thr"),
    ("from to type", "htr"),
    (":END_ID :TYPE :START_ID", "trh"),
    ("edge source_id target_id", "rht"),
    ("subject object music", "htr"),
    ("h relation t", "hrt"),
    ("x y z", "hrt"),
]


@pytest.mark.parametrize(("header", "order"), ORDERS)
@pytest.mark.parametrize("said", [None, True])
def test_files_are_read_in_the_order_that_their_header_says(
    tmp_path: Path, header: str, order: str, said: bool | None
) -> None:
    folder = write_folder(tmp_path, with_header(header, order))
    kg = FolderDataset("base", str(folder), header=said).load()
    assert kg.fingerprint == kg_of(BASE).fingerprint
    if said is None:
        moves = ", in this order" * (order != "hrt")
        assert kg.report.warnings[0] == (
            f"the first line of all files ({header.replace(' ', ', ')}) is taken for the names of columns"
            f"{moves}, since its words stand nowhere else: `dataset.header=false` keeps it as a triple"
        )


@pytest.mark.parametrize("said", [None, True])
@pytest.mark.parametrize(
    ("header", "order"),
    [("subject object predicate weight", "htrw"), ("w to from type", "wthr"), ("subj p o w", "hrtw")],
)
def test_weights_come_with_them(tmp_path: Path, header: str, order: str, said: bool | None) -> None:
    weighted = {split: [f"{line} 2.5" for line in lines] for split, lines in BASE.items()}
    plain = FolderDataset("base", str(write_folder(tmp_path / "a", weighted)), weights=True).load()
    folder = write_folder(tmp_path / "b", with_header(header, order, "2.5"))
    kg = FolderDataset("base", str(folder), weights=True, header=said).load()
    assert kg.weights is not None
    assert set(kg.weights.tolist()) == {2.5}
    assert kg.fingerprint == plain.fingerprint
    assert said or f"({', '.join(header.split()[:3])}" in kg.report.warnings[0]


def test_each_file_has_its_own_order(tmp_path: Path) -> None:
    splits = with_header("head relation tail", "hrt")
    splits["test"] = with_header("object subject predicate", "thr")["test"]
    for said in (None, True):
        kg = FolderDataset("base", str(write_folder(tmp_path, splits)), header=said).load()
        assert kg.fingerprint == kg_of(BASE).fingerprint


def test_half_an_order_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, with_header("x tail y", "htr"))
    for said in (None, True):
        with pytest.raises(
            DataError,
            match=r"train\.txt: the columns must be head, relation, tail, in this order, or all have such "
            r"names, but are called x, tail, y\.$",
        ):
            FolderDataset("base", str(folder), header=said).load()
    assert FolderDataset("base", str(folder), header=False).load().n_entities == 8


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ("subject type label", [0, 1, 2]),
        ("target relation target", [0, 1, 2]),
        ("source target weight", None),
        ("x object y", None),
        ("name type uid", [0, 1, 2]),
        ("from from to", [0, 1, 2]),
    ],
)
def test_names_that_say_two_things(words: str, order: list[int] | None) -> None:
    assert order_of(words.split(), FIELDS) == order


def test_a_file_to_split(tmp_path: Path) -> None:
    triples = [(f"n{i}", "r", f"n{i * k % 20}") for i in range(20) for k in (1, 3, 7, 9)]
    file = tmp_path / "all.tsv"
    file.write_text("Subject\tObject\tPredicate\n" + "".join(f"{h}\t{t}\t{r}\n" for h, r, t in triples))
    for flags in ([], ["--header"]):
        assert main([str(file), str(tmp_path / f"out{len(flags)}"), *flags]) == 0
        kg = FolderDataset("out", str(tmp_path / f"out{len(flags)}")).load()
        assert kg.relations.names == ("r",)


@pytest.mark.parametrize("names", ["subject object predicate", "x head relation tail", "id o s p"])
def test_data_frames(names: str) -> None:
    order = {"subject object predicate": "htr", "x head relation tail": "whrt", "id o s p": "wthr"}[names]
    frames = [
        Frame(columns([tuple(moved(f"{line} 0", order).split()) for line in BASE[split]], *names.split()))
        for split in BASE
    ]
    assert from_triples(*frames).fingerprint == kg_of(BASE).fingerprint


def test_data_frames_with_half_an_order_or_a_header_as_the_first_triple() -> None:
    with pytest.raises(
        DataError, match="`triples`: the data frame: the columns must be head, relation, tail, in"
    ):
        from_triples(Frame({"x": ["a"], "object": ["b"], "y": ["r"]}))
    rows = [[tuple(line.split()) for line in lines] for lines in with_header("subj o p", "htr").values()]
    assert from_triples(*rows).fingerprint == kg_of(BASE).fingerprint


@pytest.mark.parametrize("names", ["subject object predicate", "weight o s p"])
def test_parquet(tmp_path: Path, names: str) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    order = "htr" if len(names.split()) == 3 else "wthr"
    rows = [tuple(moved(f"{line} 2", order).split()) for line in BASE["train"]]
    data: dict[str, Any] = columns(rows, *names.split())
    pq.write_table(pa.table(data), tmp_path / "a.parquet")
    assert read_triples(tmp_path / "a.parquet").triples == [tuple(line.split()) for line in BASE["train"]]


def test_files_of_known_names(base: KnowledgeGraph, tmp_path: Path) -> None:
    file = tmp_path / "t.tsv"
    file.write_text("subject\tobject\tpredicate\na\tb\tr\n", encoding="utf-8")
    assert read_known(file, base).tolist() == [[0, 0, 1]]
    file.write_text("subject\tobject\tpredicate\na\t?\tr\na\tc\t?\n", encoding="utf-8")
    (batch,) = read_queries(file, base)
    assert batch.triples.tolist() == [[0, 0, ASKED], [0, ASKED, 2]]
    file.write_text("tail\na\t?\tr\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 1: the columns must be .*, but are called tail\.$"):
        list(read_queries(file, base))


@pytest.mark.parametrize(
    ("lines", "weights"),
    [
        (["from to type", "a b r", "b c 1"], None),
        (["type from to", "r a b", "1 b c"], None),
        (["from type to", "a 3 b", "b 1 c"], None),
        (["weight source target", "3 a b", "1 b c"], [3, 1]),
        (["source weight target", "a 3 b", "b 1 c"], [3, 1]),
    ],
)
def test_edges(tmp_path: Path, lines: list[str], weights: list[float] | None) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text("".join(line.replace(" ", "\t") + "\n" for line in lines))
    edges = read_edges(path)
    assert (edges.names, edges.ends.tolist()) == (("a", "b", "c"), [[0, 1], [1, 2]])
    assert (None if edges.weights is None else edges.weights.tolist()) == weights
    assert ("taken for weights" in edges.notes[-1]) == bool(weights)
