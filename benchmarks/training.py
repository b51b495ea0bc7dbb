"""Our training through Lightning, by the code that `python -m mohone.run` runs.

- `train`: an epoch without validation; a callback ticks a clock at the end of each step. Laying out an
  epoch's batches is timed on its own and added once. Making the objective's examples, once for a training,
  is not counted.
- `lightning_share`: the same steps in a plain loop and through Lightning, in turns in one process, because
  the difference is smaller than that between two processes.
- `quality`: seconds to a filtered validation MRR, with a validation after each epoch. MRR is taken with two
  filters: known answers of train and valid, which is our validation, and of all three splits, which is that
  of other tools, by which the targets were set. Seconds count from the call of `fit`; those of training alone
  are without any validation, and those with validation have the validations by that filter only.
"""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor

from benchmarks import ours
from benchmarks.clock import Clock
from mohone.core.runtime import quiet_lightning
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.trainers import TrainerFactory
from mohone.kge import KGEModel
from mohone.training import Fit, Objective, Training
from mohone.training.data_module import TripleDataModule
from mohone.training.fit import fit
from mohone.training.module import KGEModule

_ROUNDS = 3
_TRAINER = {
    "_target_": "pytorch_lightning.Trainer",
    "accelerator": "cpu",
    "devices": 1,
    "precision": "32-true",
}
_QUALITY_EPOCHS = 10
_FILTERS = {"train+valid": ("train", "valid"), "all": ("train", "valid", "test")}


class _NoValidation:
    """Stands where a `LinkPrediction` is expected, and takes no time."""

    def reciprocal_ranks(self, model: KGEModel, *_: int) -> Tensor:
        return torch.tensor([0.0, 1.0], dtype=torch.float64, device=model.device)

    def mrr(self, model: KGEModel) -> float:  # noqa: ARG002
        return 0.0


class _Ticks(Callback):
    """Ticks at the end of each step and ends the training when enough were timed."""

    def __init__(self, clock: Clock, n_entities: int) -> None:
        self.clock, self.n_entities = clock, n_entities

    def on_train_start(self, *_: Any) -> None:
        self.clock.start()

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, outputs: Any, batch: Any, *_: Any) -> None:  # noqa: ARG002
        if self.clock.tick(partial(ours.count_batch, batch, self.n_entities)):
            trainer.should_stop = True


class _Milestones(Callback):
    """Notes training time, validation times and both MRRs after each epoch."""

    def __init__(self, all_known: LinkPrediction) -> None:
        self.all_known = all_known
        self.history: list[dict[str, Any]] = []
        self._start = self._begun = time.perf_counter()
        self._validating = dict.fromkeys(_FILTERS, 0.0)

    def on_validation_start(self, *_: Any) -> None:
        self._begun = time.perf_counter()

    def on_validation_end(self, trainer: pl.Trainer, module: Any) -> None:
        training = self._begun - self._start - sum(self._validating.values())
        middle = time.perf_counter()
        mrr = {"train+valid": module.valid_mrr, "all": self.all_known.mrr(module.model)}
        self._validating["train+valid"] += middle - self._begun
        self._validating["all"] += time.perf_counter() - middle
        self.history.append(
            {
                "epoch": trainer.current_epoch + 1,
                "train_seconds": training,
                "total_seconds": {name: training + more for name, more in self._validating.items()},
                "mrr": mrr,
            }
        )


def train(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds of an epoch and scored candidates a second."""
    kg, objective = ours.load_kg(spec), ours.make_objective(spec)
    model = ours.make_model(spec, kg)
    n, batches, layout = ours.first_epoch(kg, objective, spec["batch_size"])
    clock = Clock(spec["seconds"], len(batches))
    del batches
    _one_epoch(model, kg, objective, spec["batch_size"], clock)
    return clock.epoch(n, layout)


def lightning_share(spec: dict[str, Any]) -> dict[str, Any]:
    """Milliseconds of a step without and with Lightning, in turns, each the median of three times."""
    kg, objective = ours.load_kg(spec), ours.make_objective(spec)
    _, batches, _ = ours.first_epoch(kg, objective, spec["batch_size"])

    def run(plain: bool, steps: int | None) -> list[float]:
        clock = Clock(spec["seconds"] / (2 * _ROUNDS), len(batches), steps)
        model = ours.make_model(spec, kg)
        if plain:
            _plain_epoch(model, objective, batches, clock)
        else:
            _one_epoch(model, kg, objective, spec["batch_size"], clock)
        return clock.times

    steps = len(run(plain=True, steps=None))
    milliseconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(_ROUNDS):
        for plain in (True, False):
            milliseconds[plain].append(1e3 * statistics.mean(run(plain, steps)))
    with_it, without = (statistics.median(milliseconds[plain]) for plain in (False, True))
    return {
        "steps_timed": steps,
        "plain_step_ms": without,
        "lightning_step_ms": with_it,
        "lightning_percent": 100 * (1 - without / with_it),
        "plain_rounds_ms": milliseconds[True],
        "lightning_rounds_ms": milliseconds[False],
    }


def quality(spec: dict[str, Any]) -> dict[str, Any]:
    """Train for ten epochs: the history, and when each filter's MRR reached the target."""
    kg = ours.load_kg(spec)
    model, training = ours.recipe(spec, kg)
    by_valid, by_all = (
        LinkPrediction(kg, "valid", ("filtered",), known=known) for known in _FILTERS.values()
    )
    limits = {"max_epochs": _QUALITY_EPOCHS, "patience": _QUALITY_EPOCHS, "validate_every": 1}
    training = dataclasses.replace(training, fit=Fit(spec["batch_size"], **limits))
    module = KGEModule(model, training, by_valid)
    data = TripleDataModule(kg, training.objective, spec["batch_size"], seed=0)
    milestones = _Milestones(by_all)
    _fit(module, data, milestones)
    outcomes = {name: reached(milestones.history, name, spec["target"]) for name in _FILTERS}
    return {"target": spec["target"], "outcomes": outcomes, "history": milestones.history}


def reached(history: list[dict[str, Any]], name: str, target: float) -> dict[str, Any]:
    """The first epoch whose MRR by this filter is the target at least; else the best one."""
    over = [epoch for epoch in history if epoch["mrr"][name] >= target]
    found = over[0] if over else max(history, key=lambda epoch: epoch["mrr"][name])
    return {
        "reached": bool(over),
        "epoch": found["epoch"],
        "mrr": found["mrr"][name],
        "train_seconds": found["train_seconds"],
        "total_seconds": found["total_seconds"][name],
    }


def _one_epoch(model: KGEModel, kg: Any, objective: Objective, batch_size: int, clock: Clock) -> None:
    """An epoch at most, until the clock has enough."""
    adam = partial(torch.optim.Adam, lr=ours.LEARNING_RATE)
    training = Training(objective, adam, None, Fit(batch_size, max_epochs=1, validate_every=1, patience=1))
    module = KGEModule(model, training, _NoValidation())  # type: ignore[arg-type]
    _fit(module, TripleDataModule(kg, objective, batch_size, seed=0), _Ticks(clock, kg.n_entities))


def _plain_epoch(model: KGEModel, objective: Objective, batches: Any, clock: Clock) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=ours.LEARNING_RATE, fused=True)
    model.train()
    clock.start()
    for batch in batches:
        ours.plain_step(model, objective, optimizer, batch)
        if clock.tick(partial(ours.count_batch, batch, model.n_entities)):
            break


def _fit(module: KGEModule, data: TripleDataModule, callback: Callback) -> None:
    """As a job fits, with trainers as `conf/trainer/cpu.yaml` makes them, without a logger."""
    quiet_lightning()
    with tempfile.TemporaryDirectory() as folder:
        trainers = TrainerFactory(_TRAINER, Path(folder))
        fit(module, data, trainers, stage="benchmark", callbacks=(callback,))
