"""One file of triples as three splits."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohone.core.errors import ConfigError, DataError
from mohone.data import FolderDataset
from mohone.data.reading import NamedTriple
from mohone.data.splitting import count_linked, split_triples
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


@given(many_triples, st.integers(0, 9), st.sampled_from([0.02, 0.1, 0.2]))
def test_without_leaks_all_triples_of_two_entities_are_in_one_split(
    triples: list[NamedTriple], seed: int, share: float
) -> None:
    unique = set(triples)
    n = max(1, round(share * len(unique)))
    most = max(Counter(frozenset((head, tail)) for head, _, tail in unique).values())
    try:
        splits = split_triples(triples, share, seed, leak=False)
    except DataError:
        # Nine names at most hold their pairs back, and valid may have more than its share.
        assert len(unique) - 9 * most < 2 * n + most
        return
    where: dict[frozenset[str], set[str]] = {}
    for split, part in splits.items():
        for head, _, tail in part:
            where.setdefault(frozenset((head, tail)), set()).add(split)
    assert all(len(found) == 1 for found in where.values())
    assert count_linked(splits) == {"valid": 0, "test": 0}
    assert sorted(triple for part in splits.values() for triple in part) == sorted(unique)
    assert all(n <= len(splits[split]) < n + most for split in ("valid", "test"))
    for columns in ((0, 2), (1,)):
        seen = {triple[column] for triple in splits["train"] for column in columns}
        assert seen == {triple[column] for triple in unique for column in columns}


@given(many_triples, st.integers(0, 9))
def test_linked_triples_are_counted_as_by_a_loop(triples: list[NamedTriple], seed: int) -> None:
    try:
        splits = split_triples(triples, 0.1, seed)
    except DataError:
        return
    train = splits["train"]
    assert count_linked(splits) == {
        split: sum(
            any((h, t) == (a, b) or ((t, h) == (a, b) and a != b) for a, _, b in train)
            for h, _, t in splits[split]
        )
        for split in ("valid", "test")
    }


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
    said = capsys.readouterr().err
    assert said == f"{folder} must be a new or an empty folder, but holds test.txt and 2 more.\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert main([str(file), str(file), "--delimiter", ","]) == 1
    assert capsys.readouterr().err == f"{file} must be a new or an empty folder, but is a file.\n"


def test_pairs_that_two_splits_share_are_told_unless_they_are_kept_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [(f"e{i}", f"e{(i * k) % 40}") for i in range(1, 40) for k in (3, 7, 11)]
    file = tmp_path / "all.tsv"
    lines = {f"{a}\tparent_of\t{b}\n" for a, b in pairs} | {f"{b}\tchild_of\t{a}\n" for a, b in pairs}
    file.write_text("".join(sorted(lines)), encoding="utf-8")

    assert main([str(file), str(tmp_path / "leaking")]) == 0
    said = capsys.readouterr().out.splitlines()
    linked = FolderDataset("leaking", str(tmp_path / "leaking")).load().report.leaks.triples
    assert f"{linked} of 21 test triples by another relation or the other way round" in said[1]
    assert linked > 12

    assert main([str(file), str(tmp_path / "kept"), "--no-leak"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert FolderDataset("kept", str(tmp_path / "kept")).load().report.leaks.triples == 0


def test_too_few_pairs_that_can_leave_train_are_told() -> None:
    triples = [(a, r, b) for a, b in ("ab", "cd", "ef") for r in ("r", "s", "t")]
    with pytest.raises(
        DataError, match=r"but only 0 can leave train .*, if all triples of two entities stay"
    ):
        split_triples(triples, 0.1, 0, leak=False)
