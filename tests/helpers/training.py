"""Short trainings without the rest of a job."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import pytorch_lightning as pl
import torch

from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.infusion.callback import RetrofitCallback
from mohone.infusion.retrofit import Pull
from mohone.kge import KGEModel, TransE
from mohone.training import Fit, NegativeSampling, Objective, Training
from mohone.training.data_module import TripleDataModule
from mohone.training.fit import fit
from mohone.training.module import KGEModule
from mohone.training.objective import Batches, Share
from mohone.training.schedules import linear_decay

OBJECTIVE = NegativeSampling(64, inverse_temperature=4.0)
OPTIMIZERS = {"adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}
LIGHTNING = "pytorch_lightning.Trainer"
DDP = {
    "_target_": LIGHTNING,
    "accelerator": "cpu",
    "devices": 2,
    "strategy": "ddp_spawn_find_unused_parameters_true",
    "precision": "32-true",
}


def trainer(
    stage: str,  # noqa: ARG001
    *,
    one_process: bool = False,  # noqa: ARG001
    logged: bool = True,  # noqa: ARG001
    **arguments: Any,
) -> pl.Trainer:
    return pl.Trainer(
        accelerator=arguments.pop("accelerator", "cpu"),
        logger=False,
        enable_checkpointing=arguments.pop("enable_checkpointing", False),
        enable_model_summary=False,
        enable_progress_bar=False,
        num_sanity_val_steps=0,
        **arguments,
    )


def settings(
    optimizer: str = "adam",
    lr: float = 0.01,
    schedule: str = "linear",
    objective: Objective = OBJECTIVE,
    **changed: Any,
) -> Training:
    """A training of three epochs, validated after each."""
    usual = {"batch_size": 512, "max_epochs": 3, "patience": 9, "validate_every": 1}
    return Training(
        objective,
        partial(OPTIMIZERS[optimizer], lr=lr),
        linear_decay if schedule == "linear" else None,
        Fit(**{**usual, **changed}),
    )


def train(
    kg: KnowledgeGraph, model: KGEModel, objective: Objective, chosen: Training, **arguments: Any
) -> dict[str, Any]:
    torch.manual_seed(0)
    chosen = dataclasses.replace(chosen, objective=objective)
    module = KGEModule(model, chosen, LinkPrediction(kg, "valid", ("filtered",)))
    data = TripleDataModule(kg, chosen.objective, chosen.fit.batch_size, seed=0)
    return fit(module, data, trainer, stage="test", **arguments)


def new_transe(kg: KnowledgeGraph) -> TransE:
    torch.manual_seed(1)
    return TransE(kg.n_entities, kg.n_relations, 16)


def callback(nearest: torch.Tensor, thaw_epoch: int | None = None) -> RetrofitCallback:
    return RetrofitCallback(nearest[:, :4], Pull(0.5), thaw_epoch)


def epoch(
    objective: Objective, kg: KnowledgeGraph, batch_size: int, rank: int = 0, world: int = 1
) -> Batches:
    """The batches of an epoch, in the order of seed 0."""
    generator = torch.Generator().manual_seed(0)
    return objective.examples(kg).epoch(batch_size, generator, Share(rank=rank, world=world))
