"""The stage that infuses the baseline with the network: `model.pt`."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch

from mohone.core.config import Plain
from mohone.core.errors import DataError, require_kind
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.stages.base import (
    NOTES,
    Sources,
    Stage,
    Trained,
    load_state,
    load_weights,
    save_weights,
    train_model,
)
from mohone.experiment.stages.baseline import BaselineStage
from mohone.experiment.stages.network import NetworkStage
from mohone.infusion import NetworkSpace
from mohone.kge import KGEModel, Wrapped

if TYPE_CHECKING:
    from pytorch_lightning.callbacks import Callback


class InfusionStage(Stage):
    """Infuses whatever the baseline is with whatever the network embedding is.

    Args:
        network: gives neighbours.
        baseline: is infused.
    """

    name = "infusion"

    def __init__(self, network: NetworkStage, baseline: BaselineStage) -> None:
        super().__init__(baseline.plan, baseline.kg)
        self.network, self.baseline = network, baseline
        infusion = self.plan.infusion
        self.parents = (network, baseline) if infusion and infusion.needs_embedding else (baseline,)

    @property
    def config(self) -> Plain:
        """The infusion, and the training by which it may train; never its warm-up, which is over by then."""
        groups = ("kge_model", "training", "infusion", "trainer")
        config = {group: copy.deepcopy(self.plan.config[group]) for group in groups}
        config["training"].setdefault("fit", {})["warmup_epochs"] = 0
        return config

    def check(self) -> None:
        """Can it be done with so many entities and processes?"""
        assert self.plan.infusion is not None
        self.plan.infusion.check(int(self.kg.seen_entities.sum()), self.plan.trainers.n_processes)

    def train(self, folder: Path, runner: Sources) -> Plain:
        """Infuse the baseline."""
        infusion = self.plan.infusion
        assert infusion is not None
        model, notes = infusion.fit(
            self._kept(runner) if infusion.keeps_baseline else runner.read(self.baseline),
            self._space(runner),
            runner.validation,
            _Retrain(self, runner.validation),
        )
        save_weights(_around(model).own_state() if infusion.keeps_baseline else model.state_dict(), folder)
        return notes

    def _space(self, runner: Sources) -> NetworkSpace:
        """The network, with the embedding if that is needed."""
        if self.network in self.parents:
            space: NetworkSpace = runner.read(self.network)
            return space
        return NetworkSpace(self.plan.network(self.kg), torch.empty(self.kg.n_entities, 0))

    def _kept(self, runner: Sources) -> KGEModel:
        """The baseline that an infusion leaves as it is: the one that all look at, if on its device."""
        assert self.plan.infusion is not None
        if not self.plan.infusion.on_cpu or self.plan.trainers.device.type == "cpu":
            shared: KGEModel = runner.shared(self.baseline)
            return shared
        own: KGEModel = runner.read(self.baseline)
        return own.cpu()

    def read(self, trained: Trained, runner: Sources) -> KGEModel:
        """The infused model, on the trainers' device or, where it stays there, on the CPU.

        Raises:
            DataError: the stage's notes are not those of such an infusion.
        """
        infusion = self.plan.infusion
        assert infusion is not None
        inner = self._kept(runner) if infusion.keeps_baseline else self.baseline.new_model()
        try:
            model = infusion.rebuild(inner, trained.notes, self.kg)
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{trained.folder / NOTES} must say what was chosen, but cannot be read ({error!r}): delete "
                f"{trained.folder}, and it is trained again."
            ) from error
        if infusion.keeps_baseline:
            load_state(_around(model).load_own_state, trained)
            return model
        device = torch.device("cpu") if infusion.on_cpu else self.plan.trainers.device
        return load_weights(model, trained, device)


def _around(model: KGEModel) -> Wrapped:
    require_kind("infusion", model, Wrapped)
    return cast(Wrapped, model)


class _Retrain:
    """See `mohone.infusion.base.Retrain`."""

    def __init__(self, stage: InfusionStage, validation: LinkPrediction) -> None:
        self.stage, self.validation = stage, validation
        self.inverse_temperature = stage.plan.training.objective.inverse_temperature

    def __call__(
        self, model: KGEModel, callback: Callback, *, lr_factor: float, max_epochs: int, patience: int
    ) -> Plain:
        training = self.stage.plan.training.for_retraining(lr_factor, max_epochs, patience)
        return train_model(
            self.stage, model, training, self.validation, callbacks=(callback,), from_start=True
        )
