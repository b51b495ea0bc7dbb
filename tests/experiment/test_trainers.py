"""The Trainers of stages: several processes, devices, what is refused."""

from pathlib import Path

import pytest
import torch

from mohone.core.errors import ConfigError, TrainingError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.trainers import TrainerFactory
from mohone.kge import TransR
from mohone.training import OneVsAll
from mohone.training.data_module import TripleDataModule
from mohone.training.fit import fit
from mohone.training.module import KGEModule
from tests.helpers.training import settings

LIGHTNING = "pytorch_lightning.Trainer"
DDP = {
    "_target_": LIGHTNING,
    "accelerator": "cpu",
    "devices": 2,
    "strategy": "ddp_spawn_find_unused_parameters_true",
    "precision": "32-true",
}


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


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"strategy": "ddp"}, "`trainer.strategy` must be a ddp_spawn one with 2 devices, but is 'ddp'"),
        ({"devices": "auto"}, "`trainer.devices` must be an integer >= 1, but is 'auto'"),
        ({"num_nodes": 2}, "`trainer.num_nodes` must be 1, but is 2"),
        ({"max_epochs": 3}, "`trainer.max_epochs` must be left out, for stages set their own, but is set"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainerFactory({**DDP, **changed}, tmp_path)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said(tmp_path: Path) -> None:
    trainers = TrainerFactory({"_target_": LIGHTNING, "accelerator": "gpu", "devices": 1}, tmp_path)
    with pytest.raises(ConfigError, match="must be cpu where there is no GPU"):
        trainers.check()


@pytest.mark.parametrize("changed", [{"precision": "bf16mixed"}, {"no_such": 1}])
def test_what_lightning_refuses_is_said_before_any_work(tmp_path: Path, changed: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="`trainer` must suit Lightning's Trainer, but: "):
        TrainerFactory({"_target_": LIGHTNING, "accelerator": "cpu", **changed}, tmp_path).check()
