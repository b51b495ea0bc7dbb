"""One file of triples as three splits."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohone.core.errors import ConfigError, DataError
from mohone.data import FolderDataset
from mohone.data.reading import NamedTriple
from mohone.data.splitting import split_triples
from mohone.split import main

names = st.sampled_from("abcdefg")
many_triples = st.lists(st.tuples(names, st.sampled_from("rs"), names), min_size=30, max_size=80)


@given(many_triples, st.integers(0, 9), st.sampled_from([0.02, 0.1, 0.2]))
def test_splits_share_out_the_unique_triples_and_train_has_all_names(
    triples: list[NamedTriple], seed: int, share: float
) -> None:
    unique = set(triples)
    try:
        splits = split_triples(triples, share, seed)
    except DataError:
        # Ten names and relations at most hold ten triples back.
        assert len(unique) - 9 < 2 * max(1, round(share * len(unique)))
        return
    assert sorted(triple for part in splits.values() for triple in part) == sorted(unique)
    assert len(splits["valid"]) == len(splits["test"]) == max(1, round(share * len(unique)))
    for columns in ((0, 2), (1,)):
        seen = {triple[column] for triple in splits["train"] for column in columns}
        assert seen == {triple[column] for triple in unique for column in columns}


def test_neither_order_nor_repetition_changes_the_splits_but_the_seed_does() -> None:
    triples = [(f"e{i}", "r", f"e{(i * k) % 40}") for i in range(40) for k in (3, 7, 11)]
    other = triples * 2
    random.Random(0).shuffle(other)
    assert split_triples(other, 0.1, 0) == split_triples(triples, 0.1, 0) != split_triples(triples, 0.1, 1)


def test_all_triples_that_can_leave_train_are_drawn_evenly() -> None:
    triples = [("a", "r", "b"), ("b", "r", "a"), ("a", "r", "a"), ("b", "r", "b")]
    drawn = dict.fromkeys(triples, 0)
    for seed in range(400):
        splits = split_triples([*triples, ("a", "s", "c")], 0.1, seed)
        for triple in splits["valid"] + splits["test"]:
            drawn[triple] += 1
    assert sum(drawn.values()) == 800
    assert min(drawn.values()) > 140


@pytest.mark.parametrize(
    ("share", "error", "message"),
    [
        (0.0, ConfigError, "The share of valid and of test must lie between 0 and 0.5, but is 0.0."),
        (float("nan"), ConfigError, "between 0 and 0.5, but is nan"),
        (0.3, DataError, "Valid and test must take 2 of 3 triples, but only 0 can leave train"),
    ],
)
def test_impossible_shares_are_refused(share: float, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        split_triples([("a", "r", "b"), ("c", "s", "d"), ("e", "t", "f")], share, 0)


def test_a_file_becomes_a_folder_that_can_be_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "all.csv", tmp_path / "new" / "mine"
    lines = [f"Ä {i},01,{(i * k) % 20}\n" for i in range(20) for k in (1, 3, 7, 9)]
    file.write_text("".join(lines), encoding="utf-8")
    assert main([str(file), str(folder), "--delimiter", ",", "--share", "0.2"]) == 0
    assert ": 42 train, 14 valid, 14 test" in capsys.readouterr().out
    kg = FolderDataset("mine", str(folder)).load()
    assert kg.seen_entities.all()
    assert len(kg.triples("train", "valid", "test")) == len(set(lines))
    assert sorted(path.name for path in folder.parent.iterdir()) == ["mine"]

    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main([str(file), str(folder), "--delimiter", ","]) == 1
    assert "must be a new or an empty folder" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
