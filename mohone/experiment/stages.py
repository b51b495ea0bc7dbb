"""The stages of a job: what each depends on, how it is trained into its folder, how it is read back."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor

from mohone.core.config import LAST_SEED, Plain, build, keys_of, settings_of
from mohone.core.errors import ConfigError, require_int
from mohone.core.files import read_json, write_json
from mohone.core.nearest import Nearest, check_nearest, nearest_neighbors
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.loggers import Curve
from mohone.experiment.networks import NetworkPlan
from mohone.experiment.pretrained import Pretrained
from mohone.experiment.store import StageStore, stage_key
from mohone.experiment.trainers import TrainerFactory
from mohone.graph.network import Network
from mohone.infusion.infuse import infuse
from mohone.infusion.settings import Retrofit
from mohone.kge import KGEModel
from mohone.kge.query_side import SIDES
from mohone.training import Objective
from mohone.training.fit import fit
from mohone.training.module import VALID_MRR, FitSettings, KGEModule, TripleDataModule

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stage:
    """A stage in the store: its key, folder and notes, and whether an earlier job had left it there."""

    key: str
    folder: Path
    info: Plain
    reused: bool

    @property
    def seconds(self) -> float:
        """How long it took when it was trained."""
        return float(self.info["seconds"])

    @property
    def curves(self) -> dict[str, Curve]:
        """What it noted of its training step by step, under the names that loggers know."""
        history = self.info.get("retraining", self.info).get("history", [])
        name = self.folder.parent.name
        steps: Curve = [
            {"epoch": epoch, "train/loss": each["loss"], VALID_MRR: each.get("valid_mrr")}
            for epoch, each in enumerate(history)  # From 0, as Lightning counts.
        ]
        curves = {name: steps}
        if "objective" in self.info and "selection" in self.info:
            objective = enumerate(self.info["objective"])
            curves["retrofit"] = [{"epoch": step, "objective": value} for step, value in objective]
        return curves


class Stages:
    """The three stages of one job, each trained once for all jobs that share the store.

    All of the configuration that they use is checked when this is made, before any work.

    Args:
        config: of the job, plain and resolved.
        kg: the data set.
        trainers: makes each stage's Trainer.

    Raises:
        ConfigError: a value that cannot be.
    """

    def __init__(self, config: Plain, kg: KnowledgeGraph, trainers: TrainerFactory) -> None:
        self.kg, self.trainers = kg, trainers
        self.seed = require_int("seed", config["seed"], 0, LAST_SEED)
        self.store = StageStore(Path(config["store_dir"]))
        self.store.check()
        self._config = config
        self._fit_settings: FitSettings = settings_of(FitSettings, "training", config["training"])
        self._objective: Objective = build("training", config["training"], without=keys_of(FitSettings))
        self._pretrained = Pretrained(config["pretrained"], kg.entities.names)
        self._pretrained.put(self._new_model())  # Only to check both.
        self._plan = NetworkPlan(config)
        self._plan.check_size(kg.n_entities)
        trainers.check()
        if self.has_infusion:
            self._retrofit: Retrofit = build("infusion", config["infusion"])
            check_nearest(int(kg.seen_entities.sum()))
            if self._retrofit.thaw_epoch is not None and trainers.n_processes > 1:
                raise ConfigError("`infusion.thaw_epoch` must be null with several devices, but is set.")

    @property
    def has_netemb(self) -> bool:
        """Is a network embedding asked for?"""
        return self._plan.is_wanted

    @property
    def has_infusion(self) -> bool:
        """Is an infusion asked for, with a network embedding to infuse?"""
        return self.has_netemb and "_target_" in self._config["infusion"]

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each stage of the job, by its name: jobs of the same keys are the same job."""
        keys: dict[str, str] = {}
        for name, config in self._configs.items():
            parents = tuple(keys.values()) if name == "infusion" else ()
            keys[name] = stage_key(
                name, config, fingerprint=self.kg.fingerprint, seed=self.seed, parents=parents
            )
        return keys

    def netemb(self) -> Stage:
        """Learn the network embedding: `vectors.pt`."""

        def train(folder: Path) -> Plain:
            vectors, info = self._plan.learn(self._network, self.trainers, self.seed)
            torch.save(vectors, folder / "vectors.pt")
            return info

        return self._stage("netemb", train)

    def baseline(self) -> Stage:
        """Train the baseline: `model.pt`."""

        def train(folder: Path) -> Plain:
            model = self._new_model()
            self._pretrained.put(model)
            file = self._progress
            with self.store.lock(file.parent.name, file.stem):  # A longer training may share it.
                info = self._fit(model, self._fit_settings, stage="baseline", progress=file)
            _save(model, folder)
            return info

        return self._stage("baseline", train)

    def infusion(self, netemb: Stage, baseline: Stage) -> Stage:
        """Choose neighbours and their pull, retrofit, re-train the relations: `model.pt`."""

        def train(folder: Path) -> Plain:
            nearest = self.neighbors(netemb)
            model, info = infuse(
                self.read_model(baseline),
                nearest.rows,
                self._retrofit,
                self._fit_settings,
                self._validation.mrr,
                partial(self._fit, stage="infusion"),
            )
            _save(model, folder)
            return {**info, "neighbor_recall": nearest.recall}

        return self._stage("infusion", train)

    def neighbors(self, netemb: Stage) -> Nearest:
        """Each entity's nearest in network space, as many as the grid tries."""
        return nearest_neighbors(
            self.read_vectors(netemb),
            max(self._retrofit.neighbors),
            self._retrofit.metric,
            excluded=self._network.isolated,
        )

    def read_model(self, stage: Stage) -> KGEModel:
        """The model of a baseline or infusion stage, on the trainers' device."""
        model = self._new_model()
        if "selection" in stage.info:
            model = SIDES[stage.info["selection"]["side"]](model)
        model.load_state_dict(torch.load(stage.folder / "model.pt", weights_only=True, map_location="cpu"))
        return model.to(self.trainers.device)

    def read_vectors(self, stage: Stage) -> Tensor:
        """The `(n_entities, dim)` vectors of a network embedding stage."""
        vectors: Tensor = torch.load(stage.folder / "vectors.pt", weights_only=True)
        return vectors

    @cached_property
    def _network(self) -> Network:
        """The entities as a network, of the training triples alone."""
        return Network.from_triples(self.kg.train, self.kg.n_entities, self._plan.weighting)

    @cached_property
    def _validation(self) -> LinkPrediction:
        return LinkPrediction(self.kg, "valid", ("filtered",))

    @cached_property
    def _configs(self) -> dict[str, Plain]:
        """What each stage of the job depends on, by its name and in their order; labels are left out."""
        of_model = {group: self._config[group] for group in ("kge_model", "training")}
        configs = {"netemb": self._plan.config} if self.has_netemb else {}
        configs["baseline"] = {**of_model, **self._pretrained.config}
        if self.has_infusion:
            training = {**of_model["training"], "warmup_epochs": 0}  # Never when re-training.
            configs["infusion"] = {**of_model, "training": training, "infusion": self._config["infusion"]}
        trainer = {"trainer": self._config["trainer"]}
        return {name: _without_names({**config, **trainer}) for name, config in configs.items()}

    @property
    def _progress(self) -> Path:
        """Where the state of the baseline's training is kept, under a key of all that its course depends on.

        With a constant learning rate a longer training has the same course.
        """
        config = copy.deepcopy(self._configs["baseline"])
        if self._fit_settings.schedule == "constant":
            del config["training"]["max_epochs"]
        key = stage_key("progress", config, fingerprint=self.kg.fingerprint, seed=self.seed)
        return self.store.root / "progress" / f"{key}.ckpt"

    def _new_model(self) -> KGEModel:
        model: KGEModel = build(
            "kge_model",
            self._config["kge_model"],
            n_entities=self.kg.n_entities,
            n_relations=self.kg.n_relations,
        )
        return model

    def _fit(self, model: KGEModel, settings: FitSettings, **arguments: Any) -> Plain:
        module = KGEModule(model, self._objective, self._validation, settings)
        data = TripleDataModule(self.kg, self._objective, settings.batch_size, self.seed)
        info = fit(module, data, self.trainers, **arguments)
        model.to(self.trainers.device)  # Lightning leaves it on the CPU.
        return info

    def _stage(self, name: str, train: Callable[[Path], Plain]) -> Stage:
        key, config = self.keys[name], self._configs[name]

        def timed(folder: Path) -> None:
            log.info("%s: training", name)
            start = time.perf_counter()
            pl.seed_everything(self.seed, verbose=False)
            info = train(folder)
            seconds = time.perf_counter() - start + info.pop("seconds_before", 0.0)
            write_json(folder / "info.json", {**info, "config": config, "seconds": seconds})
            log.info("%s: done in %.1f s", name, seconds)

        folder, reused = self.store.get(name, key, timed)
        stage = Stage(key, folder, read_json(folder / "info.json"), reused)
        if reused:
            log.info("%s: reused from %s", name, folder)
        for curve, steps in stage.curves.items():
            # Retrofitting has no Trainer; those of several processes, or that go on, log nothing.
            unseen = reused or curve not in self.keys or stage.info.get("resumed_after")
            if unseen or self.trainers.n_processes > 1:
                self.trainers.logger.replay(curve, steps)
        return stage


def _without_names(config: Plain) -> Plain:
    return {group: {k: v for k, v in node.items() if k != "name"} for group, node in config.items()}


def _save(model: KGEModel, folder: Path) -> None:
    """Write the weights so that any machine can read them."""
    torch.save({name: table.cpu() for name, table in model.state_dict().items()}, folder / "model.pt")
