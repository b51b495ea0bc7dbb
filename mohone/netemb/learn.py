"""The one learner of network embeddings: F such that softmax(F F^T) predicts the neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from mohone.core.errors import ConfigError, require_choice, require_float, require_int
from mohone.graph.network import Network
from mohone.netemb.exact import ExactObjective, NodeBatches
from mohone.netemb.neighborhood import Neighborhood
from mohone.netemb.rows import NeighborRows
from mohone.netemb.sampled import PairBatches, SampledObjective

OBJECTIVES = ("auto", "exact", "sampled")
MOST_EXACT = 50_000  # Nodes up to which a matrix of all pairs is held: 5 GB in float16.


@dataclass(frozen=True)
class LearnSettings:
    """How an embedding is learned.

    Attributes:
        dim: columns of F.
        objective: `exact` (whole rows), `sampled` (draws), or `auto`: exact up to 50,000 nodes.
        lr: the first learning rate of the exact objective (Adam).
        batch_size: nodes of a step of the exact objective.
        min_epochs: at least so many passes over the nodes.
        min_steps: at least so many steps: small graphs need many passes, large ones few.
        sampled_lr: the first learning rate of the sampled objective (Adagrad).
        sampled_batch_size: nodes of a step of the sampled objective.
        n_draws: of each node and pass, by the sampled objective.
        n_negatives: of each step of the sampled objective.
    """

    dim: int
    objective: str
    lr: float
    batch_size: int
    min_epochs: int
    min_steps: int
    sampled_lr: float
    sampled_batch_size: int
    n_draws: int
    n_negatives: int

    def __post_init__(self) -> None:
        require_choice("netemb.objective", self.objective, OBJECTIVES)
        for name in ("lr", "sampled_lr"):
            require_float(f"netemb.{name}", getattr(self, name), strict=True)
        for name in ("dim", "batch_size", "min_epochs", "min_steps", "sampled_batch_size", "n_draws"):
            require_int(f"netemb.{name}", getattr(self, name), 1)
        require_int("netemb.n_negatives", self.n_negatives, 1)

    def objective_for(self, n_nodes: int) -> str:
        """`exact` or `sampled`.

        Raises:
            ConfigError: if the exact one is asked for and the graph is too large for it.
        """
        fits = n_nodes <= MOST_EXACT
        if self.objective == "exact" and not fits:
            raise ConfigError(
                f"`netemb.objective` must be sampled or auto beyond {MOST_EXACT:,} entities, but is exact "
                f"with {n_nodes:,}."
            )
        return "exact" if fits and self.objective != "sampled" else "sampled"


def learn(
    network: Network,
    neighborhood: Neighborhood,
    make_trainer: Callable[..., pl.Trainer],
    settings: LearnSettings,
    seed: int,
) -> tuple[Tensor, list[dict[str, float]]]:
    """Learn an embedding of all nodes.

    Isolated nodes have no neighbourhood to predict and keep their first, random vector but
    for what the others' softmax does to it; the infusion never moves them.

    Returns:
        `(n_nodes, dim)` and the loss (nats a node) by epoch.
    """
    exact = settings.objective_for(network.n_nodes) == "exact"
    neighborhood.fit(network, seed)
    generator = torch.Generator().manual_seed(seed)
    module: ExactObjective | SampledObjective
    batches: NodeBatches | PairBatches
    if exact:
        rows = NeighborRows(neighborhood, network)
        module = ExactObjective(rows, network.n_nodes, settings.dim, settings.lr)
        batches = NodeBatches(network, settings.batch_size, generator)
    else:
        module = SampledObjective(network.n_nodes, settings.dim, settings.sampled_lr)
        batches = PairBatches(
            neighborhood,
            network,
            settings.sampled_batch_size,
            settings.n_draws,
            settings.n_negatives,
            generator,
        )
    if len(batches) == 0:
        return module.vectors.detach().clone(), []
    n_epochs = max(settings.min_epochs, math.ceil(settings.min_steps / len(batches)))
    place = {} if exact else {"accelerator": "cpu", "precision": "32-true"}
    trainer = make_trainer("netemb", one_process=True, max_epochs=n_epochs, **place)
    n_threads = torch.get_num_threads()  # Drawing takes one of them for itself.
    try:
        trainer.fit(module, DataLoader(batches, batch_size=None))
    finally:
        torch.set_num_threads(n_threads)
    return module.vectors.detach(), list(module.history)
