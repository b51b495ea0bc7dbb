"""All that a job's configuration makes, checked before any data are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch

from mohone.configuration.by_size import USUAL, Size, settle
from mohone.configuration.compose import check_keys
from mohone.configuration.hydra_errors import left_out
from mohone.configuration.plain_values import check_finite
from mohone.configuration.short_keys import short_key
from mohone.core.config import Plain, build, call
from mohone.core.errors import ConfigError, require_bool, require_choice, require_kind
from mohone.data import KnowledgeGraph
from mohone.evaluation.sample import Sample
from mohone.experiment.given import Given
from mohone.experiment.loggers import JobLogger
from mohone.experiment.pretrained import Pretrained
from mohone.experiment.store import StageStore
from mohone.experiment.trainers import TrainerFactory
from mohone.experiment.validation import Validation
from mohone.graph.network import WEIGHTINGS, Network
from mohone.infusion import Infusion
from mohone.kge import KGEModel
from mohone.netemb import NetworkEmbedding
from mohone.training import Training
from mohone.training.settings import TRAIN_LOSS, VALID_MRR

if TYPE_CHECKING:
    from pytorch_lightning.callbacks import Callback


@dataclass(frozen=True)
class Plan:
    """A job before its data: what each group of its configuration describes.

    Attributes:
        config: plain and resolved; with an `auto` in it, the plan is that of a usual size.
        seed: fixes everything random.
        dataset: has `load()`.
        make_model: makes a model of `n_entities` and `n_relations`.
        training: of the baseline.
        embedding: of the network; None: there is none.
        infusion: None: there is none.
        weighting: of the network's edges.
        pretrained: entity vectors to begin with.
        given: a whole model instead of training.
        validation: how much of it is ranked.
        callbacks: the user's own, of the baseline's training.
        trainers: makes each stage's Trainer.
        logger: where curves go.
        store: of trained stages.
        by_size: what was chosen by the size of the data, by key.
    """

    config: Plain
    seed: int
    dataset: Any
    make_model: Callable[..., KGEModel]
    training: Training
    embedding: NetworkEmbedding | None
    infusion: Infusion | None
    weighting: str
    pretrained: Pretrained
    given: Given
    validation: Validation
    callbacks: tuple[Callback, ...]
    trainers: TrainerFactory
    logger: JobLogger
    store: StageStore
    by_size: Plain = field(default_factory=dict)

    @property
    def has_infusion(self) -> bool:
        """Is an infusion asked for, with a network embedding if it needs one?"""
        if self.infusion is None:
            return False
        return self.embedding is not None or not self.infusion.needs_embedding

    @property
    def has_embedding(self) -> bool:
        """Is a network embedding asked for, that an infusion needs if there is one?"""
        return self.embedding is not None and (self.infusion is None or self.infusion.needs_embedding)

    def at(self, size: Size) -> Plan:
        """The plan with what follows the size of its data set."""
        config, chosen = settle(self.config, size)
        if not chosen:
            return self
        return replace(make_plan(config, self.trainers.folder, self.dataset, trains=False), by_size=chosen)

    def network(self, kg: KnowledgeGraph) -> Network:
        """The entities of a data set as a network, of the training triples alone."""
        return Network.from_triples(kg.train, kg.n_entities, self.weighting, kg.weights)

    def sample(self, kg: KnowledgeGraph) -> Sample:
        """The validation queries of a data set that are asked."""
        return self.validation.at(kg).sample(self.seed)

    def new_model(self, n_entities: int, n_relations: int) -> KGEModel:
        """A model with its first, random weights."""
        model = call("kge_model", self.make_model, n_entities=n_entities, n_relations=n_relations)
        require_kind("kge_model", model, KGEModel)
        return cast(KGEModel, model)

    def sketch(self, n_entities: int, n_relations: int) -> KGEModel:
        """A model of such tables without their numbers, which may be more than memory has."""
        try:
            with torch.device("meta"):
                return self.new_model(n_entities, n_relations)
        except ConfigError as error:
            if "meta" not in str(error.__cause__):
                raise
        return self.new_model(n_entities, n_relations)  # One of a user's own, that looks at them.


def make_plan(config: Plain, folder: Path, dataset: Any = None, *, trains: bool = True) -> Plan:
    """Build all groups of a configuration.

    Args:
        config: plain and resolved, with absolute paths.
        folder: the job's own.
        dataset: where it is not what the configuration says, but at hand.
        trains: are model, optimiser and Trainer made, to check their values? That takes seconds, which
            a job that was trained before need not wait for: what is wrong is said when it is trained again.

    Raises:
        ConfigError: a value that cannot be.
    """
    check_keys(config)
    usual, _ = settle(config, USUAL)
    logger: JobLogger = _made("logger", config["logger"], JobLogger)
    infusion = _optional("infusion", config["infusion"], Infusion)
    plan = Plan(
        config=config,
        seed=config["seed"],
        dataset=_dataset(config["dataset"]) if dataset is None else dataset,
        make_model=build("kge_model", usual["kge_model"]),
        training=_made("training", usual["training"], Training),
        embedding=_optional("netemb", config["netemb"], NetworkEmbedding),
        infusion=infusion,
        weighting=require_choice("network.weighting", config["network"].get("weighting"), WEIGHTINGS),
        pretrained=Pretrained.from_config(config["pretrained"]),
        given=Given.from_config(config.get("given", {})),
        validation=Validation.from_config(config.get("evaluation", {})),
        callbacks=_callbacks(config["callbacks"]),
        trainers=TrainerFactory(config["trainer"], folder, logger),
        logger=logger,
        store=StageStore(Path(config["store_dir"])),
    )
    plan.given.check(config)
    if plan.given.model and plan.pretrained.path:
        raise ConfigError("`pretrained.file` must be null where `given.model` is set, but is not.")
    if trains:
        plan.sketch(1, 1)  # Only to check its values.
        _check_optimizer(plan.training)
        plan.trainers.check()
    require_bool("check_memory", config.get("check_memory", True))
    check_finite(config)
    return plan


def _check_optimizer(training: Training) -> None:
    """Make one and its schedule, only to check their values."""
    optimizer = call("training.optimizer", training.optimizer, [torch.nn.Parameter(torch.zeros(1))])
    require_kind("training.optimizer", optimizer, torch.optim.Optimizer)
    schedule = call("training.scheduler", training.new_scheduler, optimizer, 10)
    if isinstance(schedule, torch.optim.lr_scheduler.ReduceLROnPlateau):
        raise ConfigError(
            "`training.scheduler` must go by batches, but ReduceLROnPlateau goes by a figure of each epoch."
        )
    if isinstance(optimizer, torch.optim.SparseAdam):
        raise ConfigError(
            "`training.optimizer` must take dense gradients, but SparseAdam does not: Adagrad and SGD take "
            "both."
        )


def _dataset(node: Plain) -> Any:
    made = build("dataset", node)
    if not callable(getattr(made, "load", None)):
        raise ConfigError(f"`dataset` must make what has `load()`, but makes a {type(made).__name__}.")
    return made


def _optional(group: str, node: Plain, kind: type) -> Any:
    """What a group makes, which may be nothing: the choice `none` has no `_target_`."""
    if node and "_target_" not in node:
        raise ConfigError(left_out(short_key(_first_key(group, node))))
    return _made(group, node, kind) if node else None


def _callbacks(nodes: list[Plain]) -> tuple[Callback, ...]:
    """The user's callbacks; of Lightning's own it is known what there is to monitor."""
    if not nodes:
        return ()
    from pytorch_lightning.callbacks import Callback

    made = tuple(build("callbacks", each) for each in nodes)
    for each in made:
        require_kind("callbacks", each, Callback)
    if all(type(each).__module__.startswith("pytorch_lightning.") for each in made):
        for each in made:
            monitored = getattr(each, "monitor", None)
            if monitored is not None:
                require_choice("callbacks.monitor", monitored, (VALID_MRR, TRAIN_LOSS))
    return made


def _first_key(path: str, node: Any) -> str:
    """The first key below a node that has a value."""
    while isinstance(node, dict) and node:
        key, node = next(iter(node.items()))
        path = f"{path}.{key}"
    return path


def _made(group: str, node: Plain, kind: type) -> Any:
    made = build(group, node)
    require_kind(group, made, kind)
    return made
