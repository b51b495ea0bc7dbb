"""The LightningModule that trains any KGE model under any objective."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor

from mohone.core.errors import ConfigError, TrainingError
from mohone.core.files import clear, replacing
from mohone.core.torch_file import fault_of_tensors
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.kge.base import KGEModel
from mohone.kge.tables import is_large, make_gradients_dense
from mohone.training.network_loss import NetworkLoss
from mohone.training.settings import TRAIN_LOSS, VALID_MRR, Training

TEST_MRR = "test/mrr"
_GREATEST_LOSS = 1e10  # A loss can diverge without overflowing.


class KGEModule(pl.LightningModule):
    """Model, objective and optimiser; validates by filtered MRR, logged as `valid/mrr`.

    Args:
        model: what is trained; parameters without `requires_grad` stay as they are.
        training: objective, optimiser and its schedule, how long.
        validation: ranks the validation triples.
        test: ranks the test triples, for `trainer.test`; None: there is none.
        network_loss: a second loss of the entity vectors, with parameters of its own; None: there is none.

    Attributes:
        history: loss and validation MRR by epoch.
        valid_mrr: of this epoch, once validated.
        best_epoch, best_mrr: the epoch (from 1; 0: before training) and score of the best weights; with
            `history` they are part of the module's state, so that they come back from other processes.
        started, seconds_before: when this part of the training began, and how long earlier ones took.
        progress: the file that the training's state is kept in; None: it is not.
    """

    def __init__(
        self,
        model: KGEModel,
        training: Training,
        validation: LinkPrediction,
        test: LinkPrediction | None = None,
        network_loss: NetworkLoss | None = None,
    ) -> None:
        super().__init__()
        self.model, self.settings = model, training  # `training` is torch's: is it being trained?
        self.validation, self.test = validation, test
        self.network_loss = network_loss
        self.history: list[dict[str, float | None]] = []
        self._loss_sum: Tensor | float = 0.0
        self._n_batches = 0
        self.valid_mrr: float | None = None
        self.best_epoch, self.best_mrr = -1, float("-inf")
        self.started, self.seconds_before = 0.0, 0.0
        self.progress: Path | None = None

    def get_extra_state(self) -> dict[str, Any]:
        """What is known of the training."""
        seconds = self.seconds_before + (time.perf_counter() - self.started if self.started else 0.0)
        best = {"best_epoch": self.best_epoch, "best_mrr": self.best_mrr}
        return {"history": self.history, "seconds": seconds, **best}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Take what another process knows of the training."""
        self.history = state["history"]
        self.best_epoch, self.best_mrr = state["best_epoch"], state["best_mrr"]

    def on_train_epoch_start(self) -> None:
        """Let the model warm up in its first epochs."""
        self.model.warm_up(self.current_epoch < self.settings.fit.warmup_epochs)

    def on_train_batch_end(self, *_: Any) -> None:
        """Put the model's constraints on its tables."""
        self.model.constrain()

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:  # noqa: ARG002
        """The objective's loss."""
        with self.model.sparse_gradients(self._sparse):
            loss = self.settings.objective.loss(self.model, batch)
            if self.network_loss is not None:
                loss = loss + self.network_loss(self.model)
        self._loss_sum = self._loss_sum + loss.detach()
        self._n_batches += 1
        return loss

    @cached_property
    def is_large(self) -> bool:
        """Has the model a table of which no step should touch all rows, and that should not lie twice?"""
        return any(map(is_large, self.model.parameters()))

    @property
    def _sparse(self) -> bool:
        """May gradients be sparse? On a GPU, and between processes, dense ones are quicker if not large."""
        large = self._by_row and self.is_large
        return self.trainer.world_size == 1 and (large or self.device.type == "cpu")

    @property
    def _by_row(self) -> bool:
        """Does the optimiser take the sparse gradients of large tables?"""
        return self.settings.by_row and self.trainer.world_size == 1

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:  # noqa: ARG002
        """Make gradients dense, unless the optimiser keeps to the rows that a large table's has."""
        make_gradients_dense(self.model, also_large=not self._by_row)

    def validation_step(self, batch: Tensor, batch_idx: int) -> None:  # noqa: ARG002
        """Rank all validation triples, in `LinkPrediction`'s own order and chunks.

        The batch is only the sign that it is time: candidates of a type are columns of a block where triples
        come by relation, and each process takes every n-th of the chunks.
        """
        loss = self._mean_loss()  # Divergence is named by its loss where that shows it.
        with self.naming(self.current_epoch + 1, loss):
            self.valid_mrr = self._mrr(self.validation)
        self.log(VALID_MRR, self.valid_mrr, prog_bar=True, batch_size=1, rank_zero_only=True)

    def test_step(self, batch: Tensor, batch_idx: int) -> None:  # noqa: ARG002
        """Rank all test triples, as `validation_step` does those of validation.

        Raises:
            ConfigError: the module was made without them.
        """
        if self.test is None:
            raise ConfigError(
                "`test` of the module must be a LinkPrediction of the test triples, but is None."
            )
        self.log(TEST_MRR, self._mrr(self.test), batch_size=1, rank_zero_only=True)

    def _mrr(self, queries: LinkPrediction) -> float:
        part = queries.reciprocal_ranks(self.model, self.trainer.global_rank, self.trainer.world_size)
        total, n = self.trainer.strategy.reduce(part, reduce_op="sum").tolist()
        return float(total / n)

    def on_train_epoch_end(self) -> None:
        """Log the epoch's mean loss, once."""
        loss = self._mean_loss()
        self.log(TRAIN_LOSS, loss, rank_zero_only=True)
        self.history.append({"epoch": self.current_epoch + 1, "loss": loss, "valid_mrr": self.valid_mrr})
        self._loss_sum, self._n_batches, self.valid_mrr = 0.0, 0, None

    def save_weights(self, path: Path) -> None:
        """Write the model's weights aside and into place."""
        if path.is_dir():  # Nothing of ours.
            clear(path)
        with replacing(path) as part:
            torch.save(self.model.state_dict(), part)

    def load_weights(self, path: Path) -> None:
        """Read what `save_weights` wrote."""
        self.model.load_state_dict(torch.load(path, weights_only=True, mmap=True))

    def fault_of_weights(self, path: Path) -> str | None:
        """Why `load_weights` cannot read a file, as `it ...`; None: it can."""
        if fault := fault_of_tensors(path):
            return f"is damaged ({fault})"
        found, own = torch.load(path, weights_only=True, mmap=True), self.model.state_dict()
        if not isinstance(found, dict) or _shapes(found) != _shapes(own):
            return "has the weights of another model"
        return None

    def fault_of_parts(self, state: dict[str, Any]) -> str | None:  # noqa: ARG002
        """What is wrong with what lies beside a state: nothing does."""
        return None

    def _mean_loss(self) -> float:
        mean = torch.as_tensor(self._loss_sum, device=self.device) / max(1, self._n_batches)
        loss = float(self.trainer.strategy.reduce(mean, reduce_op="mean"))
        if not abs(loss) < _GREATEST_LOSS:
            raise TrainingError(
                f"The loss must be finite and below {_GREATEST_LOSS:g}, but is {loss:g} in epoch "
                f"{self.current_epoch + 1}: {self._advice}."
            )
        return loss

    @property
    def _advice(self) -> str:
        return (
            f"lower the learning rate, {self.settings.lr:g} (`training.lr`; when relations are re-trained, "
            "times `infusion.retrain_lr_factor`)"
        )

    @contextlib.contextmanager
    def naming(self, epoch: int, loss: float) -> Iterator[None]:
        """Say in which epoch, at which loss, the scores ranked inside were not finite."""
        try:
            yield
        except TrainingError as error:
            raise TrainingError(
                f"{str(error).rstrip('.')} after epoch {epoch}, whose loss is {loss:g}: {self._advice}."
            ) from None

    def configure_optimizers(self) -> Any:
        """The optimiser of all parameters (it passes over the frozen ones) and its schedule."""
        optimizer = self.settings.new_optimizer(self.parameters(), self.device.type == "cpu")
        n_steps = max(1, int(self.trainer.estimated_stepping_batches))
        scheduler = self.settings.new_scheduler(optimizer, n_steps)
        if scheduler is None:
            return optimizer
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def _shapes(tensors: dict[Any, Any]) -> dict[Any, Any]:
    return {name: getattr(each, "shape", None) for name, each in tensors.items()}
