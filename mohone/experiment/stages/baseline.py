"""The stage that trains the baseline, or takes the one that is given: `model.pt`."""

from __future__ import annotations

import contextlib
import copy
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from mohone.core.config import Plain
from mohone.core.errors import ConfigError, GivenUpError
from mohone.experiment.given import digest
from mohone.experiment.stages.base import (
    Sources,
    Stage,
    Trained,
    load_weights,
    sampled,
    save_weights,
    train_model,
)
from mohone.experiment.store import stage_key
from mohone.experiment.team import call_members
from mohone.kge import KGEModel
from mohone.training.given_up import check_course
from mohone.training.network_loss import NetworkLoss


class BaselineStage(Stage):
    """Trains the model on the triples, without the network unless `training.network_weight` asks for it."""

    name = "baseline"

    @property
    def config(self) -> Plain:
        """The model and its training, vectors to begin with, the user's callbacks; or what was given."""
        validation = self.plan.validation.at(self.kg).config
        if self._whole is not None:
            return {"kge_model": self.plan.config["kge_model"], "given": self._digest, **validation}
        config = {group: self.plan.config[group] for group in ("kge_model", "training", "trainer")}
        callbacks = {"callbacks": self.plan.config["callbacks"]} if self.plan.callbacks else {}
        network = {}
        if self._network_weight:
            network = {
                "network": self.plan.config["network"],
                "neighborhood": self.plan.config["netemb"].get("neighborhood"),
            }
        return {**config, **self.plan.pretrained.config, **callbacks, **network, **validation}

    @property
    def _network_weight(self) -> float:
        return self.plan.training.objective.network_weight

    def _network_loss(self, model: KGEModel) -> NetworkLoss | None:
        if not self._network_weight:
            return None
        assert self.plan.embedding is not None
        network = self.plan.network(self.kg)
        width = model.entity_vectors.shape[1]
        return NetworkLoss(
            self._network_weight, self.plan.embedding.neighborhood, network, width, self.plan.seed
        )

    def new_model(self) -> KGEModel:
        """A model with its first, random weights."""
        return self.plan.new_model(self.kg.n_entities, self.kg.n_relations)

    @cached_property
    def _given(self) -> Tensor | None:
        """The entity vectors to begin with; None: the model's own, random ones."""
        return self.plan.pretrained.read(self.kg.entities.names)

    @cached_property
    def _whole(self) -> KGEModel | None:
        """The model that another tool has trained; None: it is trained here."""
        if self.plan.given.source is None:
            return None
        model = self.new_model()
        self.plan.given.put(model, self.kg)
        return model

    @cached_property
    def _digest(self) -> str:
        """Of that model; keys ask for it many times."""
        assert self._whole is not None
        return digest(self._whole)

    def check(self) -> None:
        """Do vectors to begin with suit the model? Is there a network embedding, if its N(u) is asked for?"""
        if self._whole is not None:
            return
        self._check_sharding()
        if self._network_weight and self.plan.embedding is None:
            raise ConfigError(
                "`training.network_weight` must be 0 without a network embedding (`netemb`), but is "
                f"{self._network_weight:g}."
            )
        if self._given is not None:
            self.plan.pretrained.put(self._given, self.new_model())

    def _check_sharding(self) -> None:
        """Can the objective do with rows that lie in other processes?"""
        if self.plan.training.fit.shard_rows and not self.plan.training.objective.asks_evenly:
            kind = type(self.plan.training.objective).__name__
            raise ConfigError(
                "`training` must be negative_sampling without `training.network_weight` where "
                f"`training.shard_rows` is true, but is {kind}."
            )

    def train(self, folder: Path, runner: Sources) -> Plain:
        """Train to the best validation score; a killed training goes on where its state was last kept."""
        if self._whole is not None:
            save_weights(self._whole.state_dict(), folder)
            figures = sampled(self._whole, runner.validation, runner.watch)
            return figures or {"valid_mrr": runner.validation.mrr(self._whole)}
        model = self._first_model()
        file = self.progress_file
        with self.plan.store.lock(file.parent.name, file.stem):  # A longer training may share it.
            call_members()
            notes = self._train(model, runner)
        save_weights(model.state_dict(), folder)
        return {**notes, **sampled(model, runner.validation, runner.watch)}

    def accept(self, notes: Plain) -> None:
        """Give up, too, what would have been given up if it had not lain in the store."""
        history, n_epochs = notes.get("history", []), self.plan.training.fit.max_epochs
        check_course(history, self.plan.validation.must_reach, n_epochs)

    def help(self, runner: Sources) -> None:
        """In another process than the job's, on this machine or another: train along."""
        with contextlib.suppress(GivenUpError):  # The job's own process says it.
            self._train(self._first_model(), runner)

    def _first_model(self) -> KGEModel:
        """The model as training begins."""
        model = self.new_model()
        if self._given is not None:
            self.plan.pretrained.put(self._given, model)
        return model

    def _train(self, model: KGEModel, runner: Sources) -> Plain:
        more: dict[str, Any] = {
            "callbacks": self.plan.callbacks,
            "progress": self.progress_file,
            "must_reach": self.plan.validation.must_reach,
        }
        loss = self._network_loss(model)
        return train_model(self, model, self.plan.training, runner.watch, loss, **more)

    def read(self, trained: Trained, runner: Sources) -> KGEModel:  # noqa: ARG002
        """The trained model, on the trainers' device."""
        return load_weights(self.new_model(), trained, self.plan.trainers.device)

    @property
    def progress_file(self) -> Path:
        """Where the training's state is kept, under a key of all that its course depends on.

        With a constant learning rate a longer training has the same course.
        """
        config = copy.deepcopy(self.config)
        if self.plan.training.is_constant:
            config["training"].get("fit", {}).pop("max_epochs", None)
        key = stage_key("progress", config, fingerprint=self.kg.fingerprint, seed=self.plan.seed)
        return self.plan.store.root / "progress" / f"{key}.ckpt"
