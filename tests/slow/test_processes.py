"""What only processes have: signals, a locale, children that train a part of each batch."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from mohone.core.errors import TrainingError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.trainers import TrainerFactory
from mohone.kge import TransR
from mohone.training import OneVsAll
from mohone.training.data_module import TripleDataModule
from mohone.training.fit import fit
from mohone.training.module import KGEModule
from tests.helpers.commands import TINY, mohone, mohone_process, results
from tests.helpers.graphs import BASE, write_folder
from tests.helpers.training import DDP, LIGHTNING, settings


def fitted(kg: KnowledgeGraph, folder: Path, trainer: dict[str, object], lr: float = 0.01) -> KGEModule:
    torch.manual_seed(1)
    objective = OneVsAll(inverse_temperature=4.0, relation_block=50)
    chosen = settings(batch_size=301, max_epochs=2, warmup_epochs=1, lr=lr, objective=objective)
    model = TransR(kg.n_entities, kg.n_relations, 8)
    module = KGEModule(model, chosen, LinkPrediction(kg, "valid", ("filtered",)))
    data = TripleDataModule(kg, objective, chosen.fit.batch_size, seed=0)
    fit(module, data, TrainerFactory(trainer, folder), stage="test")
    return module


def test_two_processes_train_and_measure_as_one(umls: KnowledgeGraph, tmp_path: Path) -> None:
    two = fitted(umls, tmp_path, DDP)
    one = fitted(umls, tmp_path, {"_target_": LIGHTNING, "accelerator": "cpu", "devices": 1})
    for name, table in one.model.state_dict().items():
        torch.testing.assert_close(two.model.state_dict()[name], table, atol=2e-3, rtol=1e-2)
    assert [epoch["epoch"] for epoch in two.history] == [1, 2]
    assert two.history[0]["loss"] == pytest.approx(one.history[0]["loss"], rel=1e-4)
    # What two processes measured is what one measures of the same weights.
    assert LinkPrediction(umls, "valid", ("filtered",)).mrr(two.model) == pytest.approx(
        two.best_mrr, abs=1e-6
    )


def test_a_fault_in_another_process_is_said_in_its_sentence(umls: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="The loss must be finite"):
        fitted(umls, tmp_path, DDP, lr=1e25)


def test_two_processes_in_a_sweep(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    every = ["trainer=ddp", "netemb=none", "training=k_vs_all", *TINY[:3]]
    ran = mohone(tmp_path, "-m", "kge_model=distmult,rescal", "dataset=kinships", *every)
    assert ran.returncode == 0, ran.stderr
    assert [job["status"] for job in results(tmp_path)] == ["ok", "ok"]
    assert not ran.stderr + capfd.readouterr().err  # Nor do the processes that they start say anything.


def test_two_processes_give_up(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    least = "evaluation.must_reach=[[1,1.0]]"
    ran = mohone(tmp_path, "trainer=ddp", "netemb=none", "training=k_vs_all", *TINY[:3], least)
    assert (ran.returncode, ran.stderr + capfd.readouterr().err) == (0, "")
    (job,) = results(tmp_path)
    assert (job["status"], job["reached"]["epoch"]) == ("stopped", 1)


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mohone.run", *arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        preexec_fn=_hear_ctrl_c,
    )


def _hear_ctrl_c() -> None:
    """A suite that a shell runs in its background ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    while line not in process.stdout.readline():
        assert process.poll() is None


def test_ctrl_c_in_a_sweep_leaves_the_table_of_the_jobs_that_ended(tmp_path: Path) -> None:
    sweep = ["-m", "netemb=shnb", "netemb.min_steps=5,1000000", "netemb.min_epochs=1", *TINY[:3]]
    process = start(tmp_path, *sweep, "hydra.sweep.dir=sweep")
    wait_for(process, "sweep: 1 of 2 jobs ended")
    wait_for(process, "netemb: training")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert err.startswith(
        "Interrupted. The same command goes on: mohone -m netemb=shnb netemb.min_steps=5,1000000 "
    )
    assert len(err.splitlines()) == 1
    assert out.count("| umls") == 2
    assert [job["status"] for job in results(tmp_path)] == ["ok", "interrupted"]


def test_a_reader_that_leaves_ends_no_job(tmp_path: Path) -> None:
    process = start(tmp_path, "netemb=none", *TINY[:3], "hydra.run.dir=here")
    wait_for(process, "umls: 135 entities")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == ""
    assert [job["status"] for job in results(tmp_path)] == ["ok"]


def test_a_terminated_job_does_not_look_like_a_success(tmp_path: Path) -> None:
    process = start(tmp_path, "netemb.min_steps=1000000", "hydra.run.dir=here")
    wait_for(process, "netemb: training")
    time.sleep(3)  # Into the fit, where Lightning handles the signal.
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "Traceback" not in out + err
    assert err == (
        "Interrupted. The same command goes on: mohone netemb.min_steps=1000000 hydra.run.dir=here\n"
    )
    (result,) = results(tmp_path)
    assert result["status"] == "interrupted"
    assert list((tmp_path / "outputs/store/netemb").glob("*.part-*")) == []


def test_names_of_any_script_in_a_plain_locale(tmp_path: Path) -> None:
    lines = {
        split: [line.replace("a", "Łódź").replace("b", "東京") for line in lines]
        for split, lines in BASE.items()
    }
    write_folder(tmp_path / "D", lines)
    ran = mohone_process(tmp_path, "dataset=folder", "dataset.path=D", *TINY, LC_ALL="C", PYTHONUTF8="0")
    assert ran.returncode == 0, ran.stderr


def test_a_folder_of_any_script_in_a_plain_locale(tmp_path: Path) -> None:
    write_folder(tmp_path / "Łódź", BASE)
    typed = ("dataset=folder", "dataset.path='Łódź'", "hydra.run.dir='東京'")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = mohone_process(tmp_path, *typed, *TINY, **plain)
    assert ran.returncode == 0, ran.stderr
    assert r"\u0141\xf3d\u017a: " in ran.stdout
    assert "Łódź: " in (tmp_path / "東京/run.log").read_text(encoding="utf-8")
    (result,) = results(tmp_path)
    assert result["dataset"]["name"] == "Łódź"
