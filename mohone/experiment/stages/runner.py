"""Runs the stages of a job: each from the store if it is there, else trained into it."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from mohone.configuration.by_size import Size
from mohone.core.compiling import watched
from mohone.core.config import Plain
from mohone.core.files import read_json, write_json
from mohone.core.runtime import seed_everything
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.plan import Plan
from mohone.experiment.stages.base import NOTES, Stage, Trained
from mohone.experiment.stages.baseline import BaselineStage
from mohone.experiment.stages.infusion import InfusionStage
from mohone.experiment.stages.network import NetworkStage
from mohone.experiment.store import stage_key

log = logging.getLogger(__name__)
Missing = Callable[[str, Path, str], None]
_MANY = 100_000  # Entities whose tables are not left to be collected at any time: a gigabyte of a million.


def say_damaged(stage: str, place: Path, fault: str) -> None:
    """Say that a stage that lies damaged in the store is trained again; of a new one nothing is said."""
    if place.is_dir():
        log.warning("%s: %s %s; it is trained again", stage, place, fault)


class Runner:
    """The stages of one job, by name and in their order.

    Args:
        plan: of the job; what follows the size of the data is chosen now.
        kg: the data set.
        missing: called before a stage is trained, with its name, its place in the store and what is wrong
            with that (`is not there`, `has a damaged model.pt`); may refuse by an exception.

    Attributes:
        stages: those that the job has.
    """

    def __init__(self, plan: Plan, kg: KnowledgeGraph, missing: Missing = say_damaged) -> None:
        self.plan, self.kg, self._missing = plan.at(Size.of(kg)), kg, missing
        self.network, self.baseline = NetworkStage(self.plan, kg), BaselineStage(self.plan, kg)
        self.infusion = InfusionStage(self.network, self.baseline)
        wanted = {self.network: self.plan.has_embedding, self.baseline: True}
        wanted[self.infusion] = self.plan.has_infusion
        self.stages = {stage.name: stage for stage, is_wanted in wanted.items() if is_wanted}
        self._trained: dict[str, Trained] = {}
        self._shared: dict[str, Any] = {}

    def check(self) -> None:
        """Refuse, before any work, what a stage could not do.

        Raises:
            ConfigError, DataError: what cannot be.
        """
        if any(not self.plan.store.place(name, key).is_dir() for name, key in self.keys.items()):
            self.plan.store.check()
        for stage in self.stages.values():
            stage.check()

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each stage of the job, by its name: jobs of the same keys are the same job."""
        return {name: self._key(stage) for name, stage in self.stages.items()}

    @cached_property
    def validation(self) -> LinkPrediction:
        """Ranks the validation triples, filtered."""
        chosen = self.plan.validation.at(self.kg)
        if chosen.queries is not None:
            said = "validation: %s of %s queries, drawn by the seed (`evaluation.valid_queries`)"
            log.info(said, f"{chosen.queries:,}", f"{2 * len(self.kg.valid):,}")
        return chosen.ranking(self.kg, self.plan.seed)

    @cached_property
    def watch(self) -> LinkPrediction:
        """The same while a model is trained: perhaps among drawn candidates."""
        chosen = self.plan.validation.at(self.kg)
        if chosen.candidates is None:
            return self.validation
        said = "validation while training: %s of %s entities are candidates (`evaluation.valid_candidates`)"
        log.info(said, f"{chosen.candidates:,}", f"{self.kg.n_entities:,}")
        return chosen.watching(self.kg, self.plan.seed)

    def read(self, stage: Stage) -> Any:
        """What a stage has made, for the caller alone."""
        return stage.read(self.run(stage), self)

    def shared(self, stage: Stage) -> Any:
        """The same for all who ask, who must not change it."""
        if stage.name not in self._shared:
            self._shared[stage.name] = self.read(stage)
        return self._shared[stage.name]

    def run(self, stage: Stage) -> Trained:
        """The stage in the store, trained if it is not there."""
        if stage.name not in self._trained:
            self._trained[stage.name] = self._run(stage)
        return self._trained[stage.name]

    def _key(self, stage: Stage) -> str:
        parents = tuple(self._key(parent) for parent in stage.parents)
        place: dict[str, Any] = {"fingerprint": self.kg.fingerprint, "seed": self.plan.seed}
        return stage_key(stage.name, stage.config, parents=parents, **place)

    def _run(self, stage: Stage) -> Trained:
        key, name = self._key(stage), stage.name
        place = self.plan.store.place(name, key)
        if fault := stage.fault(place):
            self._missing(name, place, fault)
            self.plan.store.check()
            stage.check()

        def timed(folder: Path) -> None:
            for parent in stage.parents:  # Their time is their own.
                self.run(parent)
            log.info("%s: training", name)
            with watched(name) as watch:
                seed_everything(self.plan.seed)
                notes = stage.train(folder, self)
                if self.kg.n_entities > _MANY:
                    gc.collect()  # Lightning's Trainers lie in cycles, with the tables that they trained.
            costs: dict[str, float | None] = {**watch.costs}
            if before := notes.pop("seconds_before", 0.0):
                costs["seconds"] = watch.seconds + before
                costs["cpu_seconds"] = None  # What came before is not known.
            beside = {"seconds_compiling": watch.compiling} if watch.compiling else {}
            write_json(folder / NOTES, {**notes, "config": stage.config, **costs, **beside})
            compiled = f", beside {watch.compiling:.1f} s of compiling" if watch.compiling else ""
            log.info("%s: done in %.1f s%s", name, costs["seconds"], compiled)

        whole = (lambda place: stage.fault(place) is None) if fault else Path.is_dir
        folder, reused = self.plan.store.get(name, key, timed, whole)
        trained = Trained(key, folder, read_json(folder / NOTES), reused)
        if reused:
            stage.accept(trained.notes)
            log.info("%s: reused from %s", name, folder)
        self._replay(trained)
        return trained

    def _replay(self, trained: Trained) -> None:
        """Log the curves that no Trainer has logged before our eyes: also those of several processes."""
        for curve, steps in trained.curves.items() if self.plan.logger.is_open else ():
            unseen = trained.reused or curve not in self.stages or trained.notes.get("resumed_after")
            if unseen or self.plan.trainers.n_processes > 1:
                self.plan.logger.replay(curve, steps)


def describe(trained: dict[str, Trained]) -> Plain:
    """What results say of the stages: keys, and what each noted but for its curves."""
    return {
        name: {"key": each.key} | {k: v for k, v in each.notes.items() if isinstance(v, int | float | str)}
        for name, each in trained.items()
    }
