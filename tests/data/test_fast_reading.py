"""The reader against a slow one that anyone can follow: right, or the same sentence.

`MOHONE_FUZZ=100000 python -m pytest tests/data/test_fast_reading.py` tries so many files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mohone.core.errors import DataError
from mohone.data import opening
from mohone.data.knowledge_graph import build_knowledge_graph
from mohone.data.names import Names
from mohone.data.ordering import fingerprint
from mohone.data.reading import TripleFile, read_triples
from mohone.data.triples import NamedTriples
from tests.data import slow

FUZZ = settings(
    max_examples=int(os.environ.get("MOHONE_FUZZ", "150")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
PIECES = [
    "a",
    "b",
    "01",
    "1",
    " ",
    "\t",
    "\t",
    "\t",
    "\n",
    "\r\n",
    "\r",
    '"',
    "'",
    ",",
    "#",
    "NA",
    "",
    "\x00",
    "\x08",
]
pieces = st.sampled_from(
    [*(piece.encode() for piece in PIECES), "é".encode(), "東".encode(), "\ufeff".encode()]
)
anything = st.lists(pieces | st.sampled_from([b"\xff", b"\xe9"]), max_size=40).map(b"".join)
names = st.text(st.sampled_from("ab01 \"',#\x00\x08\r\u00e9\u6771\U0001f600"), min_size=1, max_size=4)
well_formed = st.lists(
    st.tuples(names, names, names).map(lambda names: "\t".join(names).encode())
    | st.sampled_from([b"", b"  "]),
    max_size=12,
).flatmap(lambda lines: st.sampled_from([b"\n", b"\r\n"]).map(lambda end: b"".join(x + end for x in lines)))
contents = anything | well_formed | st.tuples(well_formed, anything).map(b"".join)


@FUZZ
@given(contents, st.sampled_from(["\t", "\t", ",", " ", "é"]), st.integers(1, 9) | st.just(1 << 24))
def test_the_reader_is_the_slow_one(content: bytes, delimiter: str, block: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "BLOCK", block)
        path = Path(folder) / "train.txt"
        path.write_bytes(content)
        assert outcome(read_triples, path, delimiter) == outcome(slow.read_triples, path, delimiter)


def outcome(read: Callable[[Path, str], Any], path: Path, delimiter: str) -> tuple[object, ...]:
    """The triples and the number of blank lines; or the sentence."""
    try:
        triples, n_blank, *_ = read(path, delimiter)
    except DataError as error:
        return (str(error),)
    return list(triples), n_blank


triples = st.lists(st.tuples(names, names, names), min_size=1, max_size=20)


@FUZZ
@given(triples, triples, triples)
def test_the_graph_is_the_slow_one(
    train: list[slow.Triple], valid: list[slow.Triple], test: list[slow.Triple]
) -> None:
    files = {"train": train, "valid": valid, "test": test}
    wanted = slow.build(files)
    kg = build_knowledge_graph("g", {s: TripleFile(NamedTriples.of(t), 0) for s, t in files.items()})
    assert (kg.entities.names, kg.relations.names) == (wanted.entities, wanted.relations)
    assert [kg.train.tolist(), kg.valid.tolist(), kg.test.tolist()] == wanted.triples
    assert kg.train.dtype == torch.int64
    assert kg.fingerprint == wanted.fingerprint
    assert fingerprint(files["train"]) == slow.fingerprint(files["train"])


def test_many_names_are_told_apart_while_the_pool_grows() -> None:
    texts = [f"{i * 7919 % 30_011}".encode() for i in range(60_000)]
    pool = Names()
    codes = pool.add(texts)
    numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    assert codes.tolist() == [numbers[text] for text in texts]
    assert pool.tuple == tuple(text.decode() for text in numbers)


def test_lines_longer_than_a_block_and_more_than_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "BLOCK", 1000)
    path = tmp_path / "train.txt"
    lines = [f"{'x' * (i % 3000)}{i}\tr\t{i % 7}" for i in range(3000)]
    path.write_text("\n".join(lines))
    assert list(read_triples(path).triples) == [tuple(line.split("\t")) for line in lines]
