"""The stages of the network by size: all of them on a small graph, and the table."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import stages
from benchmarks.planted import write_graph
from benchmarks.planted_plan import make_plan
from mohone.data import FolderDataset


def test_stages_hand_on_what_they_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "DIM", 8)
    write_graph(tmp_path, 600, 2400, 12, held_out=20)
    records = {stage: stages.measured(stage, tmp_path, tmp_path) for stage in stages.STAGES}
    assert all(record["seconds"] > 0 and record["peak_gb"] > 0.01 for record in records.values())
    assert (records["read"]["entities"], records["read"]["triples"]) == (600, 2400)
    assert records["network"]["ends"] == 2 * records["network"]["edges"] > 2400
    assert records["neighbors"]["recall"] == 1.0
    rows = np.load(tmp_path / "rows.npy")
    assert rows.shape == (600, stages.NEIGHBORS)
    assert records["retrofit"]["shape"] == [600, 8]
    assert records["evidence"]["queries_fitted_on"] + records["evidence"]["queries_left_out"] == 40
    stages.measured("embed", tmp_path, tmp_path, "dim=4", "netemb.min_steps=20")
    assert np.load(tmp_path / "vectors.npy").shape == (600, 4)


def test_communities_are_those_planted(tmp_path: Path) -> None:
    write_graph(tmp_path, 600, 2400, 12, held_out=20)
    names = FolderDataset("planted", str(tmp_path), store_dir=None).load().entities.names
    of = make_plan(600, 12, np.random.default_rng(0)).communities[[int(name[3:], 16) for name in names]]
    inside = [np.flatnonzero(of == one)[0] for one in of]
    outside = [np.flatnonzero(of != one)[0] for one in of]
    np.save(tmp_path / "rows.npy", np.array([inside, outside, outside, [-1] * 600]).T)
    record = stages.measured("communities", tmp_path, tmp_path)
    assert record["own"] == pytest.approx(1 / 3)
    assert record["by_chance"] == pytest.approx(np.mean([(of == one).mean() for one in of]))


def test_the_table_has_a_column_a_graph() -> None:
    record = {"graph": "100k", "stage": "embed", "cpu_seconds": 80.7, "seconds": 276.2, "peak_gb": 0.83}
    lines = stages.table([record, {**record, "graph": "1m", "stage": "read"}]).splitlines()
    assert lines[0] == "| stage | 100k | 1m |"
    assert "| embed | 81 s, 276 s, 0.8 GB |  |" in lines
    assert "| read |  | 81 s, 276 s, 0.8 GB |" in lines
