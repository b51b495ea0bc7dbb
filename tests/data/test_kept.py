"""What was read once is found again, and only that."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from mohone.data import FolderDataset, KnowledgeGraph, datasets, kept
from tests.helpers.graphs import BASE, write_folder

WEIGHTED = {split: [f"{line} {i + 1}" for i, line in enumerate(lines)] for split, lines in BASE.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "THRESHOLD", 1)
    return write_folder(tmp_path / "data", {**BASE, "test": ["zz r a", "b r d"]})


def load(folder: Path, *, reads: bool, name: str = "base", weights: bool = False) -> KnowledgeGraph:
    dataset = FolderDataset(name, str(folder), weights=weights, store_dir=str(folder.parent / "store"))
    with pytest.MonkeyPatch.context() as patch:
        calls: list[int] = []
        real = datasets.read_splits
        patch.setattr(datasets, "read_splits", lambda *given: (calls.append(1), real(*given))[1])
        kg = dataset.load()
    assert len(calls) == reads
    return kg


def assert_same(one: KnowledgeGraph, other: KnowledgeGraph) -> None:
    assert all(torch.equal(getattr(one, split), getattr(other, split)) for split in BASE)
    assert (one.fingerprint, one.report) == (other.fingerprint, other.report)
    assert (one.entities.names, one.relations.ids) == (other.entities.names, other.relations.ids)
    assert len(one.entities) == len(other.entities)


def test_the_same_files_are_read_once(folder: Path) -> None:
    first, again = load(folder, reads=True), load(folder, reads=False)
    assert_same(first, again)
    other = load(folder, reads=False, name="mine")
    assert (other.name, other.report.name) == ("mine", "mine")
    assert_same(first, replace(other, name="base", report=replace(other.report, name="base")))
    again.train[0, 0] = 3
    assert_same(first, load(folder, reads=False))


def test_other_contents_are_read_whatever_the_times_say(folder: Path) -> None:
    load(folder, reads=True)
    before = (folder / "train.txt").stat()
    (folder / "train.txt").write_text((folder / "train.txt").read_text().replace("a\tr\tb", "a\tr\td"))
    os.utime(folder / "train.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = load(folder, reads=True)
    assert [0, 0, 3] in changed.train.tolist()


def test_weights_are_kept(folder: Path) -> None:
    write_folder(folder, WEIGHTED)
    first, again = load(folder, reads=True, weights=True), load(folder, reads=False, weights=True)
    assert first.weights is not None
    assert again.weights is not None
    assert torch.equal(first.weights, again.weights)


@pytest.mark.parametrize("victim", ["train.npy", "entities.npy", "rest.json"])
def test_what_is_damaged_is_read_and_kept_again(folder: Path, victim: str) -> None:
    first = load(folder, reads=True)
    (path,) = (folder.parent / "store/graphs").glob(f"*/{victim}")
    path.write_bytes(path.read_bytes()[:-2])
    assert_same(first, load(folder, reads=True))
    assert_same(first, load(folder, reads=False))


@pytest.mark.parametrize("victim", ["train.npy", "entities.npy", "rest.json", "sums.json"])
def test_a_single_bit_that_is_another_is_seen(folder: Path, victim: str) -> None:
    first = load(folder, reads=True)
    (path,) = (folder.parent / "store/graphs").glob(f"*/{victim}")
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)
    assert_same(first, load(folder, reads=True))
    assert_same(first, load(folder, reads=False))


def test_small_files_and_stores_that_cannot_be_written_keep_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "store").write_text("a file where the store should be")
    first = load(folder, reads=True)
    assert_same(first, load(folder, reads=True))
    (folder.parent / "store").unlink()
    monkeypatch.setattr(kept, "THRESHOLD", 1 << 20)
    load(folder, reads=True)
    assert not (folder.parent / "store").exists()
