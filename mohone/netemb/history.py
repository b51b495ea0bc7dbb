"""The loss of a network embedding by epoch, the same for both objectives."""

from __future__ import annotations

import math

from torch import Tensor

from mohone.core.errors import TrainingError


class LossHistory(list[dict[str, float]]):
    """One entry an epoch: its number and its mean loss in nats a node.

    Args:
        lr: the learning rate that a broken training should lower.
        key: its name in the configuration.
    """

    def __init__(self, lr: float, key: str) -> None:
        super().__init__()
        self.lr, self.key = lr, key
        self._sum: Tensor | float = 0.0
        self._n_nodes = 0

    def add(self, loss: Tensor | float, n_nodes: int) -> None:
        """Count a batch's mean loss."""
        self._sum = self._sum + loss * n_nodes
        self._n_nodes += n_nodes

    def close(self, epoch: int) -> float:
        """End the epoch of this number and return its mean loss.

        Raises:
            TrainingError: if it is not finite.
        """
        loss = float(self._sum) / max(1, self._n_nodes)
        self._sum, self._n_nodes = 0.0, 0
        if not math.isfinite(loss):
            raise TrainingError(
                f"The network embedding's loss must be finite, but is {loss} in epoch {epoch}: lower "
                f"`{self.key}` ({self.lr:g})."
            )
        self.append({"epoch": epoch, "loss": loss})
        return loss
