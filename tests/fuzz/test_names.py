"""Files of names: Parquet, weights, edges, labels, queries, and triples of names that are known."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given

from mohone.data.edges import Edges, read_edges
from mohone.data.headers import without_known_header
from mohone.data.labels import read_labels
from mohone.data.named_triples import read_known
from mohone.data.queries import ASKED, read_queries
from mohone.data.reading import TripleFile, read_triples
from tests.helpers.fuzz import Refused, mutated, outcome, tries
from tests.helpers.graphs import BASE, kg_of

KG = kg_of(BASE)
PLACE = Path("x")
TRIPLES = b"a\tr\tb\r\nb\tr\tc\n\nc\ts\td\na\ts\t\xc3\xa9\n"
WEIGHTED = b"head\trelation\ttail\tweight\na\tr\tb\t1.5\nb\tr\tc\t2\nc\ts\td\t1e-3\n"
EDGES = b"a\tb\t1.5\nb\tc\t2\nc\ta\t0.25\nd\ta\t7\n"
LABELS = "a\tAnna\nb\tBen of B\nc\t\u6771\nd\t\n\nno label\n".encode()
QUERIES = b"head\trelation\ttail\na\tr\t?\n\t s\tc\n\nb\t?\tc\nd\ts\t\n".replace(b"\t s", b"\ts")
KNOWN = b"a\tr\tb\nb\tr\tc\nd\ts\ta\n"


def lines_of(data: bytes) -> list[list[str]]:
    """The fields of each line that is not blank, as anyone would read them."""
    lines = (line.removesuffix("\r") for line in data.removeprefix(b"\xef\xbb\xbf").decode().split("\n"))
    return [line.split("\t") for line in lines if line.strip(" ")]


def parquet(table: pa.Table, **how: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **how)
    return out.getvalue()


COLUMNS = {"head": ["a", "b", "c"] * 9, "relation": ["r", "s", "r"] * 9, "tail": ["b", "\u6771", "d"] * 9}
TABLE = pa.table(COLUMNS)
HEAVY = TABLE.append_column("weight", pa.array([0.5, 2.0, 3.0] * 9))
PARQUETS = [parquet(HEAVY), parquet(HEAVY, use_dictionary=False, compression="none")]
PARQUETS += [parquet(HEAVY, compression="zstd", data_page_version="2.0", write_page_checksum=True)]


@tries(30)
@given(data=mutated(PARQUETS[0]) | mutated(PARQUETS[1]) | mutated(PARQUETS[2]))
def test_parquet(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "train.parquet"
    path.write_bytes(data)
    read = outcome(lambda: read_triples(path, weights=True), path)
    if not isinstance(read, Refused):
        with pq.ParquetFile(path) as file:
            columns = file.read().to_pydict()
        columns = columns if set(columns) >= {*COLUMNS, "weight"} else dict(enumerate(columns.values()))
        order = [*COLUMNS, "weight"] if "head" in columns else [0, 1, 2, 3]
        wanted = list(zip(*(columns[each] for each in order), strict=True))
        assert list(read.triples) == [row[:3] for row in wanted]
        assert read.weights is not None
        assert read.weights.tolist() == [np.float32(row[3]) for row in wanted]
    outcome(lambda: read_edges(path), path)


@tries(30)
@given(data=mutated(WEIGHTED))
def test_weights(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(data)
    read = outcome(lambda: read_triples(path, header=None, weights=True), path)
    if isinstance(read, TripleFile):
        rows = lines_of(data)
        assert list(read.triples) == [tuple(row[:3]) for row in rows]
        assert read.weights is not None
        assert read.weights[1:].tolist() == [np.float32(float(row[3])) for row in rows[1:]]
        assert np.isfinite(read.weights).all()
        assert (read.weights[1:] > 0).all()


@tries(30)
@given(data=mutated(EDGES) | mutated(TRIPLES) | mutated(WEIGHTED))
@pytest.mark.parametrize("weights", [None, True])
def test_edges(tmp_path: Path, data: bytes, weights: bool | None) -> None:
    path = tmp_path / "edges.txt"
    path.write_bytes(data)
    read = outcome(lambda: read_edges(path, weights=weights), path)
    if isinstance(read, Edges):
        rows = lines_of(data)[-len(read.ends) :] if len(read.ends) else []
        last = 1 if read.weights is not None or (rows and len(rows[0]) == 2) else 2
        ends = [[read.names[i] for i in pair] for pair in read.ends.tolist()]
        assert ends == [[row[0], row[last]] for row in rows]
        assert list(read.names) == sorted({name for pair in ends for name in pair})
        if read.weights is not None:
            assert read.weights.tolist() == [np.float32(float(row[2])) for row in rows]
            assert bool((read.weights > 0).all() and read.weights.isfinite().all())


@tries(30)
@given(data=mutated(LABELS))
def test_labels(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "labels.tsv"
    path.write_bytes(data)
    read = outcome(lambda: read_labels(path), path)
    if not isinstance(read, Refused):
        rows = [row for row in lines_of(data) if len(row) > 1]
        assert read == {name: "\t".join(label) for name, *label in rows}


@tries(30)
@given(data=mutated(QUERIES))
def test_queries(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "queries.tsv"
    path.write_bytes(data)
    read = outcome(lambda: list(read_queries(path, KG, size=2)), path)
    if not isinstance(read, Refused):
        rows = lines_of(data)
        asked = [query for batch in read for query in batch.triples.tolist()]
        vocabularies = KG.entities.names, KG.relations.names, KG.entities.names
        shown = [
            ["" if i == ASKED else names[i] for i, names in zip(query, vocabularies, strict=True)]
            for query in asked
        ]
        assert shown == [[field.replace("?", "") for field in row] for row in rows[len(rows) - len(shown) :]]


@tries(30)
@given(data=mutated(KNOWN))
def test_known_triples(tmp_path: Path, data: bytes) -> None:
    """Those of `--triples` and of negatives have names of the data set; those of `--with` may have others."""
    path = tmp_path / "test_negatives.txt"
    path.write_bytes(data)
    rows = [tuple(row) for row in lines_of(data)] if _is_utf8(data) else []
    read = outcome(lambda: read_known(path, KG), path)
    if isinstance(read, torch.Tensor):
        names = KG.entities.names, KG.relations.names
        found = [(names[0][h], names[1][r], names[0][t]) for h, r, t in read.tolist()]
        assert found == rows[len(rows) - len(found) :]
    newer = outcome(lambda: without_known_header(path, read_triples(path), KG), path)
    if isinstance(newer, TripleFile):
        assert list(newer.triples) == rows[len(rows) - len(newer.triples) :]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
