"""Killed and repeated sweeps: nothing is lost or half-written, and the end is that of an undisturbed one."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mohone.experiment.configuration import compose_plain
from mohone.reporting.results import read_results
from tests.helpers.commands import TINY, mohone, mohone_process, without_times

SWEEP = ["-m", "experiment=table", "recipe=default,paper", "dataset=umls", "kge_model=transe,distmult"]
SWEEP += ["netemb=shnb", "hydra.sweep.dir=sweep", *TINY]


def ended(folder: Path) -> dict[str, Any]:
    """Of each job of a sweep what does not depend on time."""
    return {
        str(path.parent.relative_to(folder)): without_times(result) | {"status": result["status"]}
        for path, result in read_results([folder])
    }


def forked(folder: Path, n_kills: int, seconds: float, *arguments: str) -> subprocess.CompletedProcess[str]:
    """See `kill_sweep.py`."""
    folder.mkdir()
    script = Path(__file__).parent / "kill_sweep.py"
    return subprocess.run(
        [sys.executable, str(script), str(n_kills), str(seconds), *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_sweep_killed_ten_times_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    sweep = [*SWEEP, "netemb=shnb,struct"]
    calm = forked(tmp_path / "calm", 0, 0, *sweep)
    assert calm.returncode == 0, calm.stderr
    seconds = float(calm.stdout.split("seconds:")[-1])
    ran = forked(tmp_path / "killed", 10, 0.6 * seconds, *sweep)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[1]) >= 5
    assert "skipped: this job has ended before" in ran.stdout
    assert "sweep: 8 of 8 jobs ended" in ran.stdout
    assert ended(tmp_path / "killed/sweep") == ended(tmp_path / "calm/sweep")
    assert len(ended(tmp_path / "calm/sweep")) == 8
    store = tmp_path / "killed/outputs/store"
    assert list(store.rglob("*.part-*")) == []


def test_two_sweeps_in_one_folder_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: mohone_process(tmp_path, *SWEEP), range(2)))
    assert [ran.returncode for ran in both] == [0, 0], both
    found = ended(tmp_path / "sweep")
    assert len(found) == 4
    assert all(each["status"] == "ok" for each in found.values())


def test_two_jobs_started_at_once_in_one_folder(tmp_path: Path) -> None:
    """As if in the same microsecond: one runs, the other refuses to write over it."""
    job = ["netemb=none", *[a for a in TINY if "netemb" not in a], "hydra.run.dir=here"]
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda seed: mohone_process(tmp_path, *job, f"seed={seed}"), (0, 1)))
    assert sorted(ran.returncode for ran in both) == [0, 1]
    refused = next(ran for ran in both if ran.returncode == 1)
    assert "The folder of a job must be a new one or the same job's" in refused.stdout
    ((_, result),) = read_results([tmp_path / "here"])
    assert result["status"] == "ok"


def test_jobs_side_by_side_are_the_same_and_their_failures_are_told(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    few = [*SWEEP, "recipe=default"]
    two_at_once = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "hydra.sweep.dir=two"]
    ran = mohone_process(tmp_path, *few, *two_at_once)
    assert ran.returncode == 0, ran.stderr
    one = mohone(tmp_path, *few, "store_dir=another")
    assert one.returncode == 0, one.stderr
    assert ended(tmp_path / "two") == ended(tmp_path / "sweep")
    other = mohone_process(tmp_path, *few, *two_at_once, "training.lr=0.5")
    assert other.returncode == 1
    assert other.stderr.count("must be a new one or the same job's") == 2


def test_a_sweep_over_epochs_infuses_checkpoints_of_one_training() -> None:
    """With a constant rate a shorter training is the start of a longer: see `training/test_resume.py`."""
    assert compose_plain(["experiment=strength"])["training"]["scheduler"] is None
