"""What only processes have: signals, a locale, children that train a part of each batch."""

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
        fitted(umls, tmp_path, DDP, lr=1e30)


def test_two_processes_in_a_sweep(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    every = ["trainer=ddp", "netemb=none", "training=k_vs_all", *TINY[:3]]
    ran = mohone(tmp_path, "-m", "kge_model=distmult,rescal", "dataset=kinships", *every)
    assert ran.returncode == 0, ran.stderr
    assert [job["status"] for job in results(tmp_path)] == ["ok", "ok"]
    assert not ran.stderr + capfd.readouterr().err  # Nor do the processes that they start say anything.


def test_a_terminated_job_does_not_look_like_a_success(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mohone.run", "netemb.min_steps=1000000", "hydra.run.dir=here"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while "netemb: training" not in process.stdout.readline():
        assert process.poll() is None
    time.sleep(3)  # Into the fit, where Lightning handles the signal.
    process.terminate()
    assert process.wait(timeout=60) != 0
    assert list((tmp_path / "outputs/store/netemb").glob("*.part-*")) == []


def test_names_of_any_script_in_a_plain_locale(tmp_path: Path) -> None:
    lines = {
        split: [line.replace("a", "Łódź").replace("b", "東京") for line in lines]
        for split, lines in BASE.items()
    }
    write_folder(tmp_path / "D", lines)
    ran = mohone_process(tmp_path, "dataset=folder", "dataset.path=D", *TINY, LC_ALL="C", PYTHONUTF8="0")
    assert ran.returncode == 0, ran.stderr
