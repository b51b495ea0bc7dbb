"""The form of a stage, and what one leaves in the store."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from mohone.core.config import Plain
from mohone.core.errors import DataError, first_line
from mohone.core.files import read_json
from mohone.core.torch_file import fault_of_tensors
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.loggers import Curve
from mohone.experiment.plan import Plan
from mohone.kge import KGEModel
from mohone.training import Training
from mohone.training.network_loss import NetworkLoss
from mohone.training.settings import TRAIN_LOSS, VALID_MRR

WEIGHTS = "model.pt"
NOTES = "info.json"


@dataclass(frozen=True)
class Trained:
    """A stage in the store: its key, folder and notes, and whether an earlier job had left it there."""

    key: str
    folder: Path
    notes: Plain
    reused: bool

    @property
    def curves(self) -> dict[str, Curve]:
        """What it noted of its training step by step, under the names that loggers know."""
        history = self.notes.get("retraining", self.notes).get("history", [])
        name = self.folder.parent.name
        steps: Curve = [
            {"epoch": epoch, TRAIN_LOSS: each["loss"], VALID_MRR: each.get("valid_mrr")}
            for epoch, each in enumerate(history)  # From 0, as Lightning counts.
        ]
        curves = {name: steps}
        if isinstance(self.notes.get("objective"), list):  # Of retrofitting, by iteration.
            objective = enumerate(self.notes["objective"])
            curves["retrofit"] = [{"epoch": step, "objective": value} for step, value in objective]
        return curves


class Sources(Protocol):
    """What a stage may use while it is trained: the runner, as stages see it."""

    @property
    def validation(self) -> LinkPrediction:
        """Ranks the validation triples, filtered."""
        ...

    @property
    def watch(self) -> LinkPrediction:
        """The same while a model is trained: perhaps among drawn candidates."""
        ...

    def read(self, stage: Stage) -> Any:
        """What another stage has made, for the asker alone."""
        ...

    def shared(self, stage: Stage) -> Any:
        """The same for all who ask, who must not change it."""
        ...


class Stage(ABC):
    """A part of a job that is trained once for all jobs that want the same.

    Args:
        plan: of the job.
        kg: the data set.

    Attributes:
        name: of its folder in the store, of its key in results.
        file: what torch has written in that folder.
        parents: the stages that it builds on.
    """

    name: ClassVar[str]
    file: ClassVar[str] = WEIGHTS
    parents: tuple[Stage, ...] = ()

    def __init__(self, plan: Plan, kg: KnowledgeGraph) -> None:
        self.plan, self.kg = plan, kg

    @property
    @abstractmethod
    def config(self) -> Plain:
        """The part of the configuration that it depends on, parents apart."""

    def check(self) -> None:
        """Refuse, before any stage is trained, what this one could not do.

        Raises:
            ConfigError, DataError: what cannot be.
        """

    @abstractmethod
    def train(self, folder: Path, runner: Sources) -> Plain:
        """Leave its files in a folder; returns notes of plain types."""

    def accept(self, notes: Plain) -> None:
        """Refuse, by its notes, what lies in the store, if this job would not have trained it to its end."""

    @abstractmethod
    def read(self, trained: Trained, runner: Sources) -> Any:
        """What it has made, read back."""

    def fault(self, folder: Path) -> str | None:
        """Why a folder of the store cannot be read back, as `it ...`; None: it can."""
        if not folder.is_dir():
            return "is not there"
        for name, fault_of in ((NOTES, _fault_of_notes), (self.file, fault_of_tensors)):
            if not (folder / name).is_file():
                return f"has no {name}"
            if fault := fault_of(folder / name):
                return f"has a damaged {name} ({fault})"
        return None


def _fault_of_notes(path: Path) -> str | None:
    """What is wrong with a stage's notes, of which the curves are read, too."""
    try:
        notes = read_json(path)
        seconds = float(notes["seconds"])
        curves = Trained("", path.parent, notes, reused=True).curves
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        return first_line(error)
    points = [value for steps in curves.values() for step in steps for value in step.values()]
    fit = math.isfinite(seconds) and all(value is None or isinstance(value, int | float) for value in points)
    return None if fit else "its figures are no numbers"


def train_model(
    stage: Stage,
    model: KGEModel,
    training: Training,
    validation: LinkPrediction,
    network_loss: NetworkLoss | None = None,
    **arguments: Any,
) -> Plain:
    """Fit a model, leave it with its best weights on the trainers' device; more arguments are `fit`'s."""
    from mohone.training.data_module import TripleDataModule
    from mohone.training.fit import fit
    from mohone.training.module import KGEModule
    from mohone.training.sharded import ShardedModule

    plan = stage.plan
    kind = ShardedModule if training.fit.shard_rows and plan.trainers.n_processes > 1 else KGEModule
    module = kind(model, training, validation, network_loss=network_loss)
    sizes = {"batch_size": training.fit.batch_size, "relation_block": model.relation_block}
    data = TripleDataModule(stage.kg, training.objective, seed=plan.seed, **sizes)
    notes = fit(module, data, plan.trainers, stage=stage.name, **arguments)
    model.to(plan.trainers.device)  # Lightning leaves it on the CPU.
    return notes


def sampled(model: KGEModel, validation: LinkPrediction, watch: LinkPrediction) -> Plain:
    """What is noted of a trained model where validation was sampled: among all entities, and how sure."""
    if not watch.is_sampled:
        return {}
    found = validation.estimate(model)
    return {
        "valid_mrr": found.mrr,
        "valid_mrr_low": found.low,
        "valid_mrr_high": found.high,
        "valid_queries": found.n_queries,
        "valid_queries_of": found.of,
        **({} if watch.sample.candidates is None else {"valid_candidates": watch.sample.candidates}),
    }


def save_weights(state: dict[str, Tensor], folder: Path) -> None:
    """Write a model's weights, or some of them, so that any machine can read them."""
    torch.save({name: table.cpu() for name, table in state.items()}, folder / WEIGHTS)


def load_weights(model: KGEModel, trained: Trained, device: torch.device) -> KGEModel:
    """Read the weights into a model, on a device.

    Raises:
        DataError: they are of another model.
    """
    load_state(model.load_state_dict, trained)
    return model.to(device)


def load_state(load: Callable[[dict[str, Tensor]], Any], trained: Trained) -> None:
    """Read the weights of a stage by a model's own way.

    Raises:
        DataError: they are of another model.
    """
    path = trained.folder / WEIGHTS
    weights = torch.load(path, weights_only=True, map_location="cpu", mmap=True)
    try:
        load(weights)
    except (RuntimeError, TypeError) as error:
        raise DataError(
            f"{path} must hold the weights of this model, but holds others: delete {trained.folder}, and it "
            "is trained again."
        ) from error
