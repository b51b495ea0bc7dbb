"""Files that are packed, tables of columns, and weights."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mohone.core.errors import DataError
from mohone.data import FolderDataset, opening
from mohone.data.reading import read_triples
from tests.helpers.graphs import BASE, kg_of, write_folder

TEXT = b"a\tr\tb\n\nNew York\tin\t01\n"
WANTED = [("a", "r", "b"), ("New York", "in", "01")]


@pytest.mark.parametrize("block", [3, 1 << 24])
def test_gzip_also_of_several_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(opening, "BLOCK", block)
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]))
    read = read_triples(path)
    assert (read.triples, read.n_blank) == (WANTED, 1)


def test_zstandard(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "train.tsv.zst"
    with pyarrow.output_stream(str(path), compression="zstd") as file:
        file.write(TEXT)
    assert read_triples(path).triples == WANTED
    path.write_bytes(TEXT)
    with pytest.raises(DataError, match=r"train\.tsv\.zst must be"):
        read_triples(path)


@pytest.mark.parametrize(
    "content", [TEXT, gzip.compress(TEXT * 100, mtime=0)[:-20], b""], ids=["text", "cut", "empty"]
)
def test_what_is_no_whole_gzip_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "train.txt.gz"
    path.write_bytes(content)
    if not content:
        assert read_triples(path).triples == []
        return
    with pytest.raises(DataError, match=r"train\.txt\.gz must be packed by gzip, and whole, but"):
        read_triples(path)


def test_faults_in_packed_files_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress(TEXT + b"b\tc\n"))
    with pytest.raises(DataError, match=r"train\.txt\.gz, line 4: found 2 fields, wanted 3"):
        read_triples(path)


def test_a_folder_of_files_of_different_kinds(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, BASE)
    (folder / "train.csv.gz").write_bytes(gzip.compress((folder / "train.txt").read_bytes()))
    with pytest.raises(DataError, match=r"one file of train, but .* has train\.txt, train\.csv\.gz"):
        FolderDataset("base", str(folder)).load()
    (folder / "train.txt").unlink()
    assert FolderDataset("base", str(folder)).load().fingerprint == kg_of(BASE).fingerprint


def write_parquet(path: Path, **columns: Any) -> Path:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path, use_dictionary=False)
    return path


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    names = ["a", " 01", "b\r"]
    path = write_parquet(tmp_path / "a.parquet", x=names, y=["r"] * 3, z=names)
    assert read_triples(path).triples == [(name, "r", name) for name in names]
    packed = pa.array(names).dictionary_encode()
    path = write_parquet(tmp_path / "b.parquet", tail=packed, n=[1, 2, 3], relation=["r"] * 3, head=["h"] * 3)
    assert read_triples(path).triples == [("h", "r", name) for name in names]
    path = write_parquet(tmp_path / "c.parquet", a=names, b=names, c=names, d=[0.5, 2.0, 1.0])
    weights = read_triples(path, weights=True).weights
    assert weights is not None
    assert weights.tolist() == [0.5, 2.0, 1.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["x"], "b": ["y"]}, "must have the columns head, relation, tail, or 3, but has a, b"),
        ({"a": ["x"], "b": ["y"], "c": [7]}, "the column c must hold text, but holds int64"),
        (
            {"a": ["x", "x"], "b": ["y", None], "c": ["z", "z"]},
            "row 2: there must be 3 names, .* 'x', None, 'z'",
        ),
        ({"a": ["x", "x"], "b": ["y", "y"], "c": ["z", "z\nz"]}, r"row 2: .* 'x', 'y', 'z\\nz'"),
        ({"a": ["x", "x"], "b": ["y", ""], "c": ["z", "z"]}, "row 2: .* 'x', '', 'z'"),
    ],
)
def test_parquet_that_holds_something_else(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_triples(write_parquet(tmp_path / "a.parquet", **columns))


def test_a_text_is_no_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(TEXT)
    with pytest.raises(DataError, match=r"a\.parquet must be a Parquet file, but"):
        read_triples(tmp_path / "a.parquet")


def test_the_greatest_weight_of_a_repeated_triple_counts(tmp_path: Path) -> None:
    splits = {
        "train": ["b r c 2", "a r b 0.5", "a r b 0.25", "a r b 1e-1"],
        "valid": ["a r c 1"],
        "test": ["b r a 1"],
    }
    kg = FolderDataset("base", str(write_folder(tmp_path, splits)), weights=True).load()
    assert kg.weights is not None
    assert (kg.train.tolist(), kg.weights.tolist()) == ([[0, 0, 1], [1, 0, 2]], [0.5, 2.0])
    splits["train"][0] = "b r c 3"
    other = FolderDataset("base", str(write_folder(tmp_path, splits)), weights=True).load()
    assert other.fingerprint != kg.fingerprint


@pytest.mark.parametrize("weight", ["-1", "0", "nan", "inf", "heavy", "1_0"])
def test_what_is_no_weight_is_refused(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "train.txt"
    path.write_text(f"a\tr\tb\t1\n\na\tr\tc\t{weight}\n")
    with pytest.raises(DataError, match=rf"line 3: the weight must be a number > 0, but is '{weight}'"):
        read_triples(path, weights=True)


@pytest.mark.parametrize(
    ("pack", "name"), [(bz2.compress, "bzip2"), (gzip.compress, "gzip"), (lzma.compress, "xz")]
)
def test_a_packed_file_under_the_name_of_text_is_named(
    tmp_path: Path, pack: Callable[[bytes], bytes], name: str
) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(pack(TEXT * 50))
    with pytest.raises(DataError, match=f"must be text, but is packed by {name}"):
        read_triples(path)


def test_a_parquet_file_that_lost_rows_or_letters_is_refused(tmp_path: Path) -> None:
    """Arrow itself says nothing of a first column that ends early, nor of texts that are no UTF-8."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "train.parquet"
    columns = {"head": ["a", "b", "c"] * 9, "relation": ["r"] * 27, "tail": ["b"] * 27}
    pq.write_table(pa.table(columns), path, use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[5] ^= 1  # The kind of the first page: one that Arrow passes over.
    path.write_bytes(data)
    with pytest.raises(DataError, match="must be a Parquet file, but: 27 rows are announced and 0 are there"):
        read_triples(path)
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    pq.write_table(pa.table({"head": bad, "relation": ["r"], "tail": ["b"]}), path)
    with pytest.raises(DataError, match=r"must be a Parquet file, but: .*UTF8"):
        read_triples(path)
