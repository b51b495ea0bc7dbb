"""The one learner of network embeddings: F such that softmax(F F^T) predicts the neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, IterableDataset

from mohone.errors import TrainingError, require_float, require_int
from mohone.graph.adjacency import Graph
from mohone.netemb.neighborhood import Neighborhood


class NetworkEmbedding(pl.LightningModule):
    """Maximises `sum_u sum_v N(u)(v) log softmax_v(F(u) . F(v))` exactly (the paper, eq. 1).

    That is the expectation of the paper's sampled objective, without its variance: for a batch of nodes the
    cross-entropy between the rows of N and the softmax over all nodes. An epoch costs `6 N^2 d` flop. Adam,
    with a learning rate that falls linearly to 0.

    Args:
        neighborhood: prepared.
        n_nodes: rows of F.
        dim: columns of F.
        lr: the first learning rate.
    """

    def __init__(self, neighborhood: Neighborhood, n_nodes: int, dim: int, lr: float) -> None:
        super().__init__()
        self.neighborhood = neighborhood
        self.lr = lr
        self.vectors = nn.Parameter(torch.randn(n_nodes, dim) * (1 / dim**0.5))
        self.history: list[dict[str, float]] = []
        self._loss_sum: Tensor | float = 0.0
        self._n_nodes = 0

    def on_fit_start(self) -> None:
        """Bring the rows to where training is."""
        self.neighborhood.to(self.device)

    def training_step(self, nodes: Tensor, batch_idx: int) -> Tensor:  # noqa: ARG002
        """The mean cross-entropy of the batch, in nats."""
        rows = self.neighborhood.rows(nodes)
        loss = F.cross_entropy(F.embedding(nodes, self.vectors) @ self.vectors.T, rows)
        self._loss_sum = self._loss_sum + loss.detach() * len(nodes)
        self._n_nodes += len(nodes)
        return loss

    def on_train_epoch_end(self) -> None:
        """Log the epoch's mean loss; stop if it is not finite."""
        loss = float(self._loss_sum) / max(1, self._n_nodes)
        self._loss_sum, self._n_nodes = 0.0, 0
        if not math.isfinite(loss):
            raise TrainingError(
                f"The network embedding's loss must be finite, but is {loss} in epoch "
                f"{self.current_epoch + 1}: lower `netemb.lr` ({self.lr:g})."
            )
        self.log("train/loss", loss, prog_bar=True)
        self.history.append({"epoch": self.current_epoch + 1, "loss": loss})

    def configure_optimizers(self) -> Any:
        """Adam, decaying linearly."""
        optimizer = torch.optim.Adam([self.vectors], lr=self.lr, fused=True)
        n_steps = max(1, int(self.trainer.estimated_stepping_batches))
        decay = LambdaLR(optimizer, lambda step: max(0.0, 1 - step / n_steps))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": decay, "interval": "step"}}


class _NodeBatches(IterableDataset[Tensor]):
    """Shuffled batches of nodes; each pass continues the generator's sequence."""

    def __init__(self, nodes: Tensor, batch_size: int, generator: torch.Generator) -> None:
        self.nodes, self.batch_size, self.generator = nodes, batch_size, generator

    def __len__(self) -> int:
        return -(-len(self.nodes) // self.batch_size)

    def __iter__(self) -> Iterator[Tensor]:
        order = torch.randperm(len(self.nodes), generator=self.generator)
        return iter(self.nodes[order].split(self.batch_size))


@dataclass(frozen=True)
class LearnSettings:
    """How an embedding is learned.

    Attributes:
        dim: columns of F.
        lr: the first learning rate.
        batch_size: nodes of a step.
        min_epochs: at least so many passes over the nodes.
        min_steps: at least so many steps: small graphs need many passes, large ones few.
    """

    dim: int
    lr: float
    batch_size: int
    min_epochs: int
    min_steps: int

    def __post_init__(self) -> None:
        require_float("netemb.lr", self.lr, strict=True)
        for name in ("dim", "batch_size", "min_epochs", "min_steps"):
            require_int(f"netemb.{name}", getattr(self, name), 1)


def learn(
    graph: Graph,
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
    neighborhood.prepare(graph)
    connected = (~graph.isolated).nonzero().flatten()
    batches = _NodeBatches(connected, settings.batch_size, torch.Generator().manual_seed(seed))
    module = NetworkEmbedding(neighborhood, graph.n_nodes, settings.dim, settings.lr)
    if len(connected) == 0:
        return module.vectors.detach().clone(), []
    n_epochs = max(settings.min_epochs, math.ceil(settings.min_steps / max(1, len(batches))))
    trainer = make_trainer("netemb", one_process=True, max_epochs=n_epochs)
    trainer.fit(module, DataLoader(batches, batch_size=None))
    return module.vectors.detach().clone(), module.history
