"""Sweeps whose jobs run in other processes, as on other machines: by the launchers of the extras."""

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from mohone.configuration.recipes import CONF
from mohone.core.errors import ConfigError
from mohone.reporting.results import read_results
from mohone.sweeps.launchers import lost_job, require_launcher
from tests.helpers.commands import TINY, mohone, mohone_process, without_times

SWEEP = ["-m", "kge_model=distmult", "netemb=none", "seed=0,1", *TINY[:3], "hydra.sweep.dir=sweep"]
INSTALLED = {"submitit_local": "hydra_submitit_launcher", "ray": "hydra_ray_launcher"}


def ended(folder: Path) -> dict[str, Any]:
    return {
        str(path.parent.relative_to(folder)): {**without_times(result), "status": result["status"]}
        for path, result in read_results([folder])
    }


@pytest.mark.parametrize("launcher", INSTALLED)
def test_jobs_elsewhere_are_those_here_and_their_failures_are_told(launcher: str, tmp_path: Path) -> None:
    """One of two jobs fails, since another's result lies in its folder: exit code and table say so."""
    pytest.importorskip(f"hydra_plugins.{INSTALLED[launcher]}")
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        in_the_way = mohone(folder, *SWEEP, "seed=1", "hydra.sweep.subdir=1")
        assert in_the_way.returncode == 0, in_the_way.stderr
    sweep = [*SWEEP, "seed=0,2"]
    assert mohone(here, *sweep).returncode == 1
    ran = mohone_process(there, *sweep, f"hydra/launcher={launcher}")
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr.count("must be a new one or the same job's") == 1, ran.stderr
    assert ended(there / "sweep") == ended(here / "sweep")
    assert len(ended(there / "sweep")) == 2
    assert (there / "sweep/table.md").read_text() == (here / "sweep/table.md").read_text()
    assert len(list((there / "outputs/store/baseline").glob("*/model.pt"))) == 2


@pytest.mark.parametrize("name", ["joblib", "ray", "submitit_local", "submitit_slurm"])
def test_our_settings_of_a_launcher_are_its_own(name: str) -> None:
    node = OmegaConf.load(CONF / "hydra/launcher" / f"{name}.yaml")
    package = str(node["_target_"]).rpartition(".")[0].rpartition(".")[0]
    config = pytest.importorskip(f"{package}.{'_config' if name == 'ray' else 'config'}")
    known = {
        "joblib": "JobLibLauncherConf",
        "ray": "RayLauncherConf",
        "submitit_local": "LocalQueueConf",
        "submitit_slurm": "SlurmQueueConf",
    }
    structured = OmegaConf.structured(getattr(config, known[name]))
    OmegaConf.merge(structured, node)  # Raises for a key or type that it does not have.
    assert structured._target_ == node["_target_"]


def test_a_launcher_that_is_not_installed_is_refused_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohone.sweeps.launchers.find_spec", lambda _: None)
    for name, extra in (("joblib", "parallel"), ("ray", "ray"), ("submitit_slurm", "slurm")):
        launcher = OmegaConf.load(CONF / "hydra/launcher" / f"{name}.yaml")
        config = OmegaConf.create(
            {"hydra": {"launcher": launcher, "runtime": {"choices": {"hydra/launcher": name}}}}
        )
        with pytest.raises(ConfigError, match=rf"but {name} is not: pip install 'mohone\[{extra}\]'\.$"):
            require_launcher(config)
    require_launcher(OmegaConf.create({"hydra": {"launcher": {"_target_": "hydra._internal.BasicLauncher"}}}))


def test_a_worker_that_was_killed_is_said_in_a_sentence() -> None:
    class UncompletedJobError(RuntimeError):
        pass

    UncompletedJobError.__module__ = "submitit.core.utils"
    said = lost_job(UncompletedJobError("Job 7 (task: 0) was killed.\nLogs: ..."))
    assert said == "A job of the sweep was lost (UncompletedJobError: Job 7 (task: 0) was killed)."
    assert lost_job(RuntimeError("A fault of ours.")) is None
