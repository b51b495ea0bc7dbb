"""Entity tables that lie in several processes by rows: what is trained is what one process trains."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from mohone.core.errors import TrainingError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.trainers import TrainerFactory
from mohone.kge import ComplEx, KGEModel, TransD
from mohone.training import NegativeSampling, resume
from mohone.training.data_module import TripleDataModule
from mohone.training.fit import fit
from mohone.training.module import KGEModule
from mohone.training.sharded import ShardedModule
from tests.helpers.commands import mohone
from tests.helpers.training import DDP, LIGHTNING, settings

ONE = {"_target_": LIGHTNING, "accelerator": "cpu", "devices": 1}


class Witness(pl.Callback):
    """Writes how many rows each process held; ends one process after an epoch, if told so."""

    def __init__(self, folder: Path | str, dies_in: int | None = None) -> None:
        self.folder, self.dies_in = Path(folder), dies_in

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: Any) -> None:
        rows = len(pl_module.model.entity)
        (self.folder / f"rows-{trainer.global_rank}-of-{trainer.world_size}").write_text(str(rows))
        if trainer.current_epoch == self.dies_in and trainer.global_rank == trainer.world_size - 1:
            os.kill(os.getpid(), signal.SIGKILL)


def new(kind: type[KGEModel], kg: KnowledgeGraph) -> KGEModel:
    torch.manual_seed(3)
    more = {"max_norm": 0.9} if kind is TransD else {}
    return kind(kg.n_entities, kg.n_relations, 8, reciprocal=True, **more)


def trained(
    kg: KnowledgeGraph, kind: type[KGEModel], folder: Path, processes: int, dies_in: int | None = None
) -> tuple[KGEModule, dict[str, Any]]:
    objective = NegativeSampling(16, in_batch=False, n3=0.01)
    chosen = settings(optimizer="adagrad", lr=0.1, batch_size=300, max_epochs=3, objective=objective)
    validation = LinkPrediction(kg, "valid", ("filtered",))
    make = ShardedModule if processes > 1 else KGEModule
    module = make(new(kind, kg), chosen, validation)
    data = TripleDataModule(kg, objective, 300, seed=0)
    trainer = {**DDP, "devices": processes} if processes > 1 else ONE
    folder.mkdir(exist_ok=True)
    notes = fit(
        module,
        data,
        TrainerFactory(trainer, folder),
        stage="test",
        callbacks=(Witness(folder, dies_in),),
        progress=folder / "p.ckpt",
    )
    return module, notes


def test_four_processes_train_as_one(umls: KnowledgeGraph, tmp_path: Path) -> None:
    one, wanted = trained(umls, TransD, tmp_path / "one", 1)
    several, found = trained(umls, TransD, tmp_path / "several", 4)
    losses = [[epoch["loss"] for epoch in each["history"]] for each in (found, wanted)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert found["valid_mrr"] == pytest.approx(wanted["valid_mrr"], abs=2e-3)
    for name, table in one.model.state_dict().items():
        torch.testing.assert_close(several.model.state_dict()[name], table, atol=5e-3, rtol=1e-2)
    again = LinkPrediction(umls, "valid", ("filtered",)).mrr(several.model)
    assert again == pytest.approx(found["valid_mrr"], abs=1e-6)
    rows = [int(file.read_text()) for file in sorted((tmp_path / "several").glob("rows-*"))]
    assert len(rows) == 4
    assert sum(rows) == umls.n_entities
    assert max(rows) == -(-umls.n_entities // 4)
    assert not list((tmp_path / "several").glob("p*"))  # Of the state nothing is left.


def test_two_processes_train_as_one_although_a_process_was_killed(
    umls: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "_SECONDS_BETWEEN_FILES", 0.0)
    one, wanted = trained(umls, ComplEx, tmp_path / "one", 1)
    with pytest.raises(TrainingError, match=r"one died .*the same command goes on") as error:
        trained(umls, ComplEx, tmp_path / "parts", 2, dies_in=2)
    assert "\n" not in str(error.value)
    two, found = trained(umls, ComplEx, tmp_path / "parts", 2)
    assert found["resumed_after"] == 2
    losses = [[epoch["loss"] for epoch in each["history"]] for each in (found, wanted)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    torch.testing.assert_close(two.model.entity_vectors, one.model.entity_vectors, atol=5e-3, rtol=1e-2)


def test_objectives_that_score_all_entities_are_refused(tmp_path: Path) -> None:
    ran = mohone(tmp_path, "trainer=ddp", "training.shard_rows=true", "training=one_vs_all", "netemb=none")
    assert ran.returncode == 1
    assert "`training` must be negative_sampling" in ran.stdout
