"""Killed and repeated sweeps: nothing is lost or half-written, and the end is that of an undisturbed one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mohone.reporting.results import read_results
from tests.helpers.commands import TINY, mohone, mohone_process, without_times

SWEEP = ["-m", "experiment=table", "recipe=default", "dataset=umls", "kge_model=transe,distmult"]
SWEEP += ["netemb=shnb", "hydra.sweep.dir=sweep", *TINY]


def ended(folder: Path) -> dict[str, Any]:
    """Of each job of a sweep what does not depend on time."""
    return {
        str(path.parent.relative_to(folder)): without_times(result) | {"status": result["status"]}
        for path, result in read_results([folder])
    }


def script(name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script of this folder: it says itself what it does."""
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, str(Path(__file__).parent / name), *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def at_once(folder: Path, *commands: list[str], locks: bool = True) -> list[tuple[int, str]]:
    """Exit code and output of commands that run at the same time."""
    ran = script("at_once.py", folder, *[] if locks else ["--no-locks"], json.dumps(commands))
    assert ran.returncode == 0, ran.stderr
    return [(code, out) for code, out in json.loads(ran.stdout)]


def test_a_sweep_killed_ten_times_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    sweep = [*SWEEP, "netemb=shnb,struct"]
    calm = script("kill_sweep.py", tmp_path / "calm", "0", *sweep)
    assert calm.returncode == 0, calm.stderr
    ran = script("kill_sweep.py", tmp_path / "killed", "10", *sweep)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[1]) >= 5
    assert "skipped: this job has ended before" in ran.stdout
    assert "sweep: 4 of 4 jobs ended" in ran.stdout
    assert ended(tmp_path / "killed/sweep") == ended(tmp_path / "calm/sweep")
    assert len(ended(tmp_path / "calm/sweep")) == 4
    store = tmp_path / "killed/outputs/store"
    assert list(store.rglob("*.part-*")) == []


def test_two_sweeps_in_one_folder_at_once(tmp_path: Path) -> None:
    both = at_once(tmp_path, SWEEP, SWEEP)
    assert [code for code, _ in both] == [0, 0], both
    found = ended(tmp_path / "sweep")
    assert len(found) == 2
    assert all(each["status"] == "ok" for each in found.values())


def test_two_sweeps_that_see_no_common_locks_both_end_whole(tmp_path: Path) -> None:
    calm, *both = ([*SWEEP, f"hydra.sweep.dir={name}"] for name in ("calm", "one", "two"))
    assert mohone(tmp_path, *calm, "store_dir=another").returncode == 0
    ran = at_once(tmp_path, *both, locks=False)
    assert [code for code, _ in ran] == [0, 0], ran
    assert ended(tmp_path / "one") == ended(tmp_path / "two") == ended(tmp_path / "calm")
    assert list((tmp_path / "outputs/store").rglob("*.part*")) == []


def test_two_jobs_started_at_once_in_one_folder(tmp_path: Path) -> None:
    """As if in the same microsecond: one runs, the other refuses to write over it."""
    job = ["netemb=none", *[a for a in TINY if "netemb" not in a], "hydra.run.dir=here"]
    both = at_once(tmp_path, [*job, "seed=0"], [*job, "seed=1"])
    assert sorted(code for code, _ in both) == [0, 1], both
    (refused,) = (out for code, out in both if code == 1)
    assert "The folder of a job must be a new one or the same job's" in refused
    ((_, result),) = read_results([tmp_path / "here"])
    assert result["status"] == "ok"


def test_jobs_side_by_side_are_the_same_and_their_failures_are_told(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    two_at_once = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "hydra.sweep.dir=two"]
    one = mohone(tmp_path, *SWEEP)
    assert one.returncode == 0, one.stderr
    other = mohone(tmp_path, *SWEEP, "kge_model=distmult", "training.lr=0.5", "hydra.sweep.dir=two")
    assert other.returncode == 0, other.stderr  # It is in the way of one of the two jobs.
    in_the_way = ended(tmp_path / "two")
    ran = mohone_process(tmp_path, *SWEEP, *two_at_once, "store_dir=another")
    assert ran.returncode == 1
    assert ran.stderr.count("must be a new one or the same job's") == 1, ran.stderr
    assert len(in_the_way) == 1
    assert ended(tmp_path / "two") == ended(tmp_path / "sweep") | in_the_way
