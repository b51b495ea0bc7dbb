"""The exact objective: whole rows of the neighbourhoods against the softmax over all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import IterableDataset

from mohone.graph.network import Network
from mohone.netemb.history import LossHistory
from mohone.netemb.rows import NeighborRows

# Nodes of a step: on some processors MKL rounds products of 5 to 11 rows by the number of threads.
_LEAST = 12


class NodeBatches(IterableDataset[Tensor]):
    """Shuffled batches of the nodes that have neighbours; each pass continues the generator's sequence.

    Fewer than 12 nodes at the end belong to the batch before.
    """

    def __init__(self, network: Network, batch_size: int, generator: torch.Generator) -> None:
        self.nodes = network.connected
        self.generator = generator
        n_whole, left = divmod(len(self.nodes), batch_size)
        self._sizes = [batch_size] * n_whole
        if left < _LEAST and n_whole:
            self._sizes[-1] += left
        elif left:
            self._sizes.append(left)

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[Tensor]:
        order = torch.randperm(len(self.nodes), generator=self.generator)
        return iter(self.nodes[order].split(self._sizes))


class ExactObjective(pl.LightningModule):
    """Maximises `sum_u sum_v N(u)(v) log softmax_v(F(u) . F(v))` (the paper, eq. 1).

    That is the expectation of the paper's sampled objective, without its variance: for a batch of nodes the
    cross-entropy between the rows of N and the softmax over all nodes. An epoch costs `6 N^2 d` flop. Adam,
    with a learning rate that falls linearly to 0.

    Args:
        rows: of the neighbourhood.
        n_nodes: rows of F.
        dim: columns of F.
        lr: the first learning rate.

    Attributes:
        n_steps: those in which the learning rate falls to 0; it stays there.
    """

    n_steps = 1

    def __init__(self, rows: NeighborRows, n_nodes: int, dim: int, lr: float) -> None:
        super().__init__()
        self.rows, self.lr = rows, lr
        self.vectors = nn.Parameter(torch.randn(n_nodes, dim) * (1 / dim**0.5))
        self.history = LossHistory(lr, "netemb.lr")

    def on_fit_start(self) -> None:
        """Bring the rows to where training is."""
        self.rows.to(self.device)

    def training_step(self, nodes: Tensor, batch_idx: int) -> Tensor:  # noqa: ARG002
        """The mean cross-entropy of the batch, in nats."""
        loss = F.cross_entropy(F.embedding(nodes, self.vectors) @ self.vectors.T, self.rows[nodes])
        self.history.add(loss.detach(), len(nodes))
        return loss

    def on_train_epoch_end(self) -> None:
        """Log the epoch's mean loss; stop if it is not finite."""
        self.log("train/loss", self.history.close(self.current_epoch + 1), prog_bar=True)

    def configure_optimizers(self) -> Any:
        """Adam, decaying linearly."""
        optimizer = torch.optim.Adam([self.vectors], lr=self.lr, fused=True)
        decay = LambdaLR(optimizer, lambda step: max(0.0, 1 - step / self.n_steps))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": decay, "interval": "step"}}
