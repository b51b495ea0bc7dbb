"""Our training, by the code that `python -m mohone.run` runs.

It goes through Lightning with `KGEModule`, `TripleDataModule` and `fit`, as a job does, without
validation; a callback ticks a clock at the end of each step. Laying out an epoch's batches is timed on its
own and added once to the epoch. Making the objective's examples, once for a training, is not counted.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor

from bench.clock import Clock, warmup_of
from bench.subjects import LEARNING_RATE, count_batch, first_epoch, load_kg, make_model, make_objective
from mohone.data import KnowledgeGraph
from mohone.experiment.trainers import TrainerFactory, quiet_lightning
from mohone.kge import KGEModel
from mohone.training import Objective
from mohone.training.fit import fit
from mohone.training.module import FitSettings, KGEModule, TripleDataModule


class NoValidation:
    """Stands where a `LinkPrediction` is expected, and takes no time."""

    def reciprocal_ranks(self, model: KGEModel, *_: int) -> Tensor:
        """One query of reciprocal rank 0."""
        return torch.tensor([0.0, 1.0], dtype=torch.float64, device=model.device)

    def mrr(self, model: KGEModel) -> float:  # noqa: ARG002
        """0."""
        return 0.0


class StepClock(Callback):
    """Ticks at the end of each step and ends the training when enough were timed."""

    def __init__(self, clock: Clock, n_entities: int) -> None:
        self.clock, self.n_entities = clock, n_entities

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Start."""
        self.clock.start()

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,  # noqa: ARG002
        outputs: Any,  # noqa: ARG002
        batch: Any,
        batch_idx: int,  # noqa: ARG002
    ) -> None:
        """Tick."""
        if self.clock.tick(partial(count_batch, batch, self.n_entities)):
            trainer.should_stop = True


def trainers(folder: Path) -> TrainerFactory:
    """Trainers as `conf/trainer/cpu.yaml` makes them, without a logger."""
    quiet_lightning()
    return TrainerFactory({"accelerator": "cpu", "devices": 1, "precision": "32-true"}, folder)


def train_by_lightning(
    model: KGEModel, kg: KnowledgeGraph, objective: Objective, batch_size: int, clock: Clock
) -> None:
    """An epoch at most, until the clock has enough."""
    settings = FitSettings("adam", LEARNING_RATE, "constant", batch_size, 1, patience=1, validate_every=1)
    module = KGEModule(model, objective, NoValidation(), settings)  # type: ignore[arg-type]
    data = TripleDataModule(kg, objective, batch_size, seed=0)
    callback = StepClock(clock, kg.n_entities)
    with tempfile.TemporaryDirectory() as folder:
        fit(module, data, trainers(Path(folder)), stage="benchmark", callbacks=(callback,))


def train(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds of an epoch and scored candidates a second."""
    kg = load_kg(spec)
    model, objective = (
        make_model(spec["model"], kg, spec["dim"]),
        make_objective(spec["objective"], spec["model"]),
    )
    n, batches, layout = first_epoch(kg, objective, spec["batch_size"])
    clock = Clock(spec["seconds"], warmup_of(len(batches)))
    del batches
    train_by_lightning(model, kg, objective, spec["batch_size"], clock)
    return clock.epoch(n, layout)
