"""How long a job's stages will take: a few steps of each are measured, and multiplied.

Nothing is kept of what is measured. Trainings may stop early, so that theirs is the most it can be.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import pytorch_lightning as pl
import torch

from mohone.core.compiling import watched
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.unlinked import reported_settings
from mohone.evidence.fit import fit_weights, learn_experts
from mohone.evidence.model import EvidenceModel
from mohone.evidence.neighbors import random_neighbors, weigh
from mohone.experiment.estimated_network_time import time_of_network
from mohone.experiment.stages.runner import Runner
from mohone.experiment.stopwatch import Stopwatch, Time, seconds_of
from mohone.infusion.evidence import Evidence
from mohone.infusion.retrofitting import Retraining, Retrofit
from mohone.kge import KGEModel
from mohone.training.data_module import TripleDataModule
from mohone.training.module import KGEModule

_STEPS = 20  # Measured, at most.
_FITTED = 256  # Validation triples that weights of evidence are fitted on.
_RANKED_SECONDS = 0.3  # Ranking so long tells how long a triple takes.


class Times:
    """The times of a job's stages, each measured when it is first asked for.

    Args:
        runner: of the job.
    """

    def __init__(self, runner: Runner) -> None:
        self.runner, self.plan, self.kg = runner, runner.plan, runner.kg

    @cached_property
    def _module(self) -> KGEModule:
        pl.seed_everything(self.plan.seed, verbose=False)
        return KGEModule(self.runner.baseline.new_model(), self.plan.training, self.runner.validation)

    @cached_property
    def _epoch(self) -> tuple[float, int, float]:
        """Seconds of an epoch's layout, its steps, and seconds of each."""
        training, module, watch = self.plan.training, self._module, Stopwatch()
        sizes = {"batch_size": training.fit.batch_size, "relation_block": module.model.relation_block}
        data = TripleDataModule(self.kg, training.objective, seed=self.plan.seed, **sizes)
        self._trainer(watch).fit(module, datamodule=data)
        module.model.to(self.plan.trainers.device)
        return watch.before, data.examples.n_batches(training.fit.batch_size), watch.step

    @cached_property
    def validation(self) -> float:
        """Seconds of ranking the validation triples once."""
        return self._per_triple("valid", ("filtered",)) * len(self.kg.valid)

    def _per_triple(self, split: str, settings: tuple[str, ...], model: KGEModel | None = None) -> float:
        """Seconds of ranking both sides of a triple, by some of a split: the more, the quicker they are."""
        _ = self._epoch  # The model is where it is trained.
        model = model or self._module.model
        triples, n, seconds = getattr(self.kg, split), 32, 0.0
        order = torch.randperm(len(triples), generator=torch.Generator().manual_seed(0))
        while seconds < _RANKED_SECONDS and n < 8 * len(triples):
            some = triples[order[:n].sort().values]
            few = LinkPrediction(dataclasses.replace(self.kg, **{split: some}), split, settings)
            few.ranks(model)  # The first look at an index is not the usual one.
            seconds, n = seconds_of(partial(few.ranks, model)), 8 * n
        return seconds / len(some)

    def of(self, stage: str) -> Time:
        """How long a stage takes (`netemb`, `baseline`, `infusion` or `evaluation`)."""
        made: dict[str, Callable[[], Time]] = {
            "netemb": partial(time_of_network, self.runner, self._trainer),
            "baseline": self._baseline,
            "infusion": self._infusion,
            "evaluation": self._evaluation,
        }
        return made[stage]()

    def _baseline(self) -> Time:
        if self.plan.given.source is not None:
            return Time(self.validation, "a validation")
        fit = self.plan.training.fit
        layout, n_steps, step = self._epoch
        n_validations = -(-fit.max_epochs // fit.validate_every)
        seconds = fit.max_epochs * (layout + n_steps * step) + n_validations * self.validation
        source = f"{1000 * step:.3g} ms a step x {n_steps:,} x {fit.max_epochs} epochs"
        return Time(seconds, f"{source} + {n_validations} validations of {self.validation:.2g} s")

    def _trainer(self, watch: Stopwatch, **place: Any) -> pl.Trainer:
        """For some steps, of which nothing is kept."""
        limits = {"max_epochs": 1, "limit_train_batches": _STEPS, "limit_val_batches": 0}
        return self.plan.trainers("plan", (watch,), one_process=True, logged=False, **limits, **place)

    def _infusion(self) -> Time:
        """Of retrofitting: the grid's validations and the epochs of re-training; of evidence, the fit."""
        infusion = self.plan.infusion
        if self._evidence is not None:
            return self._evidence_time()
        if not isinstance(infusion, Retraining):
            return Time(None, "not measured")
        n_points, n_epochs = 1, infusion.retrain_epochs
        if isinstance(infusion, Retrofit):
            sides, ks, betas = (_number(each) for each in (infusion.side, infusion.neighbors, infusion.beta))
            n_points = sides * ks * betas + 1
        layout, n_steps, step = self._epoch
        n_validations = n_points + n_epochs + 1
        seconds = n_validations * self.validation + n_epochs * (layout + n_steps * step)
        source = f"{n_validations} validations of {self.validation:.2g} s"
        return Time(seconds, f"{source} + {n_epochs} epochs of {layout + n_steps * step:.2g} s")

    @property
    def _evidence(self) -> Evidence | None:
        """The infusion, if it is evidence beside the baseline, fitted on validation."""
        chosen = self.plan.infusion
        if isinstance(chosen, Evidence) and chosen.first == "none" and chosen.fit_on == "valid":
            return chosen
        return None

    @cached_property
    def _fitted(self) -> tuple[EvidenceModel, float, float]:
        """A model with evidence, the seconds in which experts learned, and those of a triple fitted on.

        Neighbours are drawn by lot, and not sought.
        """
        assert self._evidence is not None
        _ = self._epoch
        kg, experts = self.kg, self._evidence.new_experts()
        neighbors = weigh(random_neighbors(kg.n_entities, self._evidence.neighbors, self.plan.seed))
        with watched("plan") as learning:
            learn_experts(experts, kg, neighbors, self.plan.seed)
        few = dataclasses.replace(kg, valid=kg.valid[:_FITTED])
        chosen = dataclasses.replace(self._evidence.fitting(), description=None)
        fit = partial(fit_weights, self._module.model.cpu(), few, experts, chosen)
        mixed, _ = fit()  # Compiled by then.
        return mixed, learning.seconds, seconds_of(fit) / max(1, len(few.valid))

    def _evidence_time(self) -> Time:
        _, learning, each = self._fitted
        assert self._evidence is not None
        n = self._evidence.fitting(sample=self.plan.sample(self.kg)).n_queries(self.kg) // 2
        told = f"{learning:.2g} s of learning + {1000 * each:.2g} ms a validation triple x {n:,}"
        return Time(learning + each * n, f"{told}, without the search for neighbours")

    def _evaluation(self) -> Time:
        """Test in all settings, of one model or of both; of evidence of frequency alone, too."""
        n, settings = len(self.kg.test), reported_settings(self.kg)
        each = self._per_triple("test", settings)
        bare = 1 if self._evidence is None and not self.plan.has_infusion else 2
        told, seconds = f"{1000 * each:.2g} ms a test triple x {n:,} x {bare} models", bare * each * n
        if self._evidence is not None:
            infused = self._per_triple("test", settings, self._fitted[0])
            told, seconds = f"{told} + {1000 * infused:.2g} ms x {n:,}", seconds + infused * n
        return Time(seconds, told.replace(" x 1 models", ""))


def _number(values: Any) -> int:
    return len(values) if isinstance(values, list | tuple) else 1
