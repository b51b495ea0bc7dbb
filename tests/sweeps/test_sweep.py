"""What a sweep says while it runs, and what it notes of its jobs."""

import os
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from mohone.reporting.results import RESULT
from mohone.sweeps.sweep import MARK, SweepTable, begin_job, count_jobs, fail_job, progress_line


def test_progress_counts_what_this_sweep_ended(tmp_path: Path) -> None:
    start = 1_000_000.0
    sweep, other = f"10 {start} 7", f"3 {start} 8"

    def job(name: str, status: str, written: float, mark: str | None) -> tuple[Path, dict[str, Any]]:
        path = tmp_path / name / RESULT
        path.parent.mkdir()
        path.touch()
        os.utime(path, (written, written))
        if mark is not None:
            (path.parent / MARK).write_text(mark)
        return path, {"status": status}

    results = [
        job("worked", "ok", start + 50, sweep),
        job("failed", "failed", start + 90, f"{sweep}\nIt broke."),
        job("skipped", "ok", start - 500, sweep),
        job("refused", "ok", start - 500, f"{sweep}\nThe folder holds another's."),
        job("failed before, running again", "failed", start - 500, sweep),
        job("not begun", "ok", start - 500, f"10 {start - 600} 7"),
        job("of another sweep at the same time", "ok", start + 50, other),
        job("elsewhere", "ok", start - 500, None),
    ]
    line = progress_line(results, sweep, start + 120)
    assert line == "sweep: 4 of 10 jobs ended, 2 of them failed, about 6 min left"
    assert progress_line(results, other, start + 120) == "sweep: 1 of 3 jobs ended, about 4 min left"
    (tmp_path / "worked" / MARK).write_text(f"100 {start} 9")
    assert progress_line(results, f"100 {start} 9", start + 120) == (
        "sweep: 1 of 100 jobs ended, about 3 h 18 min left"
    )
    (tmp_path / "skipped" / MARK).write_text(f"2 {start} 5")
    assert progress_line(results, f"2 {start} 5", start + 120) == "sweep: 1 of 2 jobs ended"
    (tmp_path / "skipped" / MARK).write_text(f"0 {start} 5")
    assert progress_line(results, f"0 {start} 5", start + 120) == "sweep: 1 of ? jobs ended"


def test_the_jobs_of_a_sweep_are_counted() -> None:
    def count(params: dict[str, str], *task: str) -> int:
        return count_jobs(
            OmegaConf.create({"hydra": {"sweeper": {"params": params}, "overrides": {"task": task}}})
        )

    assert count({}, "seed=1") == 1
    assert count({}, "seed=0,1,2", "dim=4", "kge_model=transe,complex") == 6
    assert count({"seed": "0,1", "dim": "1,2"}, "dim=3") == 2
    assert count({}, "seed=range(0,5)", "infusion.beta=[0,0.1]") == 5


def test_the_failures_of_a_sweep_are_told_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jobs as workers in other processes leave them: two sweeps in one folder, and a job on its own."""
    monkeypatch.setattr("mohone.sweeps.sweep.FAILURES", {})
    sweep, other = "3 1000.0 7", "1 1000.0 8"
    for name, environment, sentence in (
        ("1", sweep, "It broke."),
        ("2", sweep, None),
        ("3", sweep, "It broke,\nfor good."),
        ("4", other, "That is another's."),
    ):
        monkeypatch.setenv("MOHONE_SWEEP", environment)
        begin_job(tmp_path / "s" / name)
        if sentence:
            fail_job(tmp_path / "s" / name, sentence)
    monkeypatch.delenv("MOHONE_SWEEP")
    begin_job(tmp_path / "alone")
    fail_job(tmp_path / "alone", "It stands alone.")
    assert not (tmp_path / "alone").exists()  # What needs no mark has none.

    monkeypatch.setattr("mohone.sweeps.sweep.FAILURES", failures := {})
    monkeypatch.setenv("MOHONE_SWEEP", sweep)
    config = OmegaConf.create({"hydra": {"runtime": {"cwd": str(tmp_path)}, "sweep": {"dir": "s"}}})
    SweepTable().on_multirun_end(config)
    folder = tmp_path.resolve() / "s"
    assert failures == {str(folder / "1"): "It broke.", str(folder / "3"): "It broke,\nfor good."}
    assert capsys.readouterr().err.count("failed: ") == 2

    begin_job(tmp_path / "s/1")  # Once more, and now it goes well.
    failures.clear()
    SweepTable().on_multirun_end(config)
    assert list(failures) == [str(folder / "3")]
