"""Time to quality: how long a training takes to a filtered validation MRR.

Trained as a job trains, with a validation after each epoch. MRR is taken with two filters: known answers of
train and valid, which is our validation, and of all three splits, which is that of other tools, by which the
targets were set. Seconds count from the call of `fit`; those of training alone are without any validation,
and those with validation have the validations by that filter only.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback

from bench.subjects import load_kg, make_model
from bench.training import trainers
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.kge import ComplEx, KGEModel
from mohone.training import NegativeSampling, Objective, OneVsAll
from mohone.training.fit import fit
from mohone.training.module import FitSettings, KGEModule, TripleDataModule

_EPOCHS = 10
FILTERS = {"train+valid": ("train", "valid"), "all": ("train", "valid", "test")}


class _Recipe(NamedTuple):
    model: KGEModel
    objective: Objective
    settings: FitSettings


class Milestones(Callback):
    """Notes training time, validation times and both MRRs after each epoch."""

    def __init__(self, with_test: LinkPrediction) -> None:
        self.with_test = with_test
        self.history: list[dict[str, Any]] = []
        self._start = self._begun = time.perf_counter()
        self._validating = dict.fromkeys(FILTERS, 0.0)

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Training pauses."""
        self._begun = time.perf_counter()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Training goes on when the second MRR is known, too."""
        assert isinstance(pl_module, KGEModule)
        training = self._begun - self._start - sum(self._validating.values())
        middle = time.perf_counter()
        all_known = self.with_test.mrr(pl_module.model)
        self._validating["train+valid"] += middle - self._begun
        self._validating["all"] += time.perf_counter() - middle
        mrr = {"train+valid": pl_module.valid_mrr, "all": all_known}
        self.history.append(
            {
                "epoch": trainer.current_epoch + 1,
                "train_seconds": training,
                "total_seconds": {name: training + more for name, more in self._validating.items()},
                "mrr": mrr,
            }
        )


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Train for ten epochs: the history, and when each filter's MRR reached the target."""
    kg = load_kg(spec)
    model, objective, settings = _recipe(spec, kg)
    known = LinkPrediction(kg, "valid", ("filtered",), known=FILTERS["all"])
    module = KGEModule(model, objective, LinkPrediction(kg, "valid", ("filtered",)), settings)
    data = TripleDataModule(kg, objective, settings.batch_size, seed=0)
    milestones = Milestones(known)
    with tempfile.TemporaryDirectory() as folder:
        fit(module, data, trainers(Path(folder)), stage="training", callbacks=(milestones,))
    outcomes = {name: reached(milestones.history, name, spec["target"]) for name in FILTERS}
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


def _recipe(spec: dict[str, Any], kg: KnowledgeGraph) -> _Recipe:
    """The recipes of `conf/recipe` for FB15k-237."""
    limits = {"max_epochs": _EPOCHS, "patience": _EPOCHS, "validate_every": 1}
    size = spec["batch_size"]
    if spec["objective"] == "negative_sampling":
        objective: Objective = NegativeSampling(inverse_temperature=5.0, dropout=0.1)
        settings = FitSettings("adam", 3e-3, "linear", size, **limits)
        return _Recipe(make_model(spec["model"], kg, spec["dim"]), objective, settings)
    model = ComplEx(kg.n_entities, kg.n_relations, spec["dim"], reciprocal=True)
    return _Recipe(model, OneVsAll(n3=0.05), FitSettings("adagrad", 0.3, "linear", size, **limits))
