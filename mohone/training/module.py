"""The LightningModule and the DataModule that train any KGE model under any objective."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, IterableDataset

from mohone.core.errors import TrainingError, require_choice, require_float, require_int
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.kge.base import KGEModel, make_gradients_dense
from mohone.training.objective import Batches, Examples, Objective, Share

VALID_MRR = "valid/mrr"
OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adagrad": torch.optim.Adagrad,
    "sgd": torch.optim.SGD,
}
_GREATEST_LOSS = 1e10  # A loss can diverge without overflowing.
SCHEDULES = ("constant", "linear")


@dataclass(frozen=True)
class FitSettings:
    """How a model is fitted, under any objective.

    Attributes:
        optimizer: `adam`, `adagrad` or `sgd`.
        lr: learning rate.
        schedule: `constant`, or `linear` to 0 at the last step of the last epoch.
        batch_size: examples of a step: triples, or queries in `one_vs_all`.
        max_epochs: at most so many.
        patience: validations without a new best after which training stops.
        validate_every: epochs between validations.
        warmup_epochs: first epochs in which the model warms up as a simpler one: TransR as TransE.
    """

    optimizer: str
    lr: float
    schedule: str
    batch_size: int
    max_epochs: int
    patience: int
    validate_every: int
    warmup_epochs: int = 0

    def __post_init__(self) -> None:
        require_choice("training.optimizer", self.optimizer, tuple(OPTIMIZERS))
        require_float("training.lr", self.lr, strict=True)
        require_choice("training.schedule", self.schedule, SCHEDULES)
        for name in ("batch_size", "max_epochs", "patience", "validate_every"):
            require_int(f"training.{name}", getattr(self, name), 1)
        require_int("training.warmup_epochs", self.warmup_epochs, 0)


class KGEModule(pl.LightningModule):
    """Model, objective and optimiser; validates by filtered MRR, logged as `valid/mrr`.

    Args:
        model: what is trained; parameters without `requires_grad` stay as they are.
        objective: batches and loss.
        validation: ranks the validation triples.
        settings: optimiser, learning rate and its schedule.

    Attributes:
        history: loss and validation MRR by epoch.
        valid_mrr: of this epoch, once validated.
        best_epoch, best_mrr: the epoch (from 1; 0: before training) and score of the best weights; with
            `history` they are part of the module's state, so that they come back from other processes.
        started, seconds_before: when this part of the training began, and how long earlier ones took.
    """

    def __init__(
        self,
        model: KGEModel,
        objective: Objective,
        validation: LinkPrediction,
        settings: FitSettings,
    ) -> None:
        super().__init__()
        self.model, self.objective, self.validation = model, objective, validation
        self.settings = settings
        self.history: list[dict[str, float | None]] = []
        self._loss_sum: Tensor | float = 0.0
        self._n_batches = 0
        self.valid_mrr: float | None = None
        self.best_epoch, self.best_mrr = -1, float("-inf")
        self.started, self.seconds_before = 0.0, 0.0

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
        self.model.warm_up(self.current_epoch < self.settings.warmup_epochs)

    def on_train_batch_end(self, *_: Any) -> None:
        """Put the model's constraints on its tables."""
        self.model.constrain()

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:  # noqa: ARG002
        """The objective's loss."""
        # On a GPU, and between processes, dense ones are the quicker.
        with self.model.sparse_gradients(self.device.type == "cpu" and self.trainer.world_size == 1):
            loss = self.objective.loss(self.model, batch)
        self._loss_sum = self._loss_sum + loss.detach()
        self._n_batches += 1
        return loss

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:  # noqa: ARG002
        """Make gradients dense."""
        make_gradients_dense(self.model)

    def validation_step(self, batch: Tensor, batch_idx: int) -> None:  # noqa: ARG002
        """Rank all validation triples."""
        loss = self._mean_loss()  # Divergence is named by its loss where that shows it.
        world = (self.trainer.global_rank, self.trainer.world_size)
        with self.naming(self.current_epoch + 1, loss):
            part = self.validation.reciprocal_ranks(self.model, *world)
        total, n = self.trainer.strategy.reduce(part, reduce_op="sum").tolist()
        self.valid_mrr = total / n
        self.log(VALID_MRR, self.valid_mrr, prog_bar=True, batch_size=1, rank_zero_only=True)

    def on_train_epoch_end(self) -> None:
        """Log the epoch's mean loss, once."""
        loss = self._mean_loss()
        self.log("train/loss", loss, rank_zero_only=True)
        self.history.append({"epoch": self.current_epoch + 1, "loss": loss, "valid_mrr": self.valid_mrr})
        self._loss_sum, self._n_batches, self.valid_mrr = 0.0, 0, None

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
        make: Any = OPTIMIZERS[self.settings.optimizer]
        optimizer = make(self.model.parameters(), lr=self.settings.lr, fused=self.device.type == "cpu")
        if self.settings.schedule == "constant":
            return optimizer
        n_steps = max(1, int(self.trainer.estimated_stepping_batches))
        decay = LambdaLR(optimizer, lambda step: max(0.0, 1 - step / n_steps))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": decay, "interval": "step"}}


class _Epoch(IterableDataset[Any]):
    """An iterable of whole batches as a data set, as the DataLoader wants it."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)


class TripleDataModule(pl.LightningDataModule):
    """Whole batches of the train split; the order of each epoch depends on seed and epoch alone."""

    def __init__(self, kg: KnowledgeGraph, objective: Objective, batch_size: int, seed: int) -> None:
        super().__init__()
        self.kg, self.objective, self.batch_size, self.seed = kg, objective, batch_size, seed

    def epoch_seed(self, epoch: int) -> int:
        """What all that is random in an epoch depends on."""
        return self.seed * 1_000_003 + epoch

    @cached_property
    def _examples(self) -> Examples:
        return self.objective.examples(self.kg)

    def train_dataloader(self) -> DataLoader[Any]:
        """This epoch's batches, on the Trainer's device (it must reload every epoch)."""
        epoch, share = 0, Share()
        if self.trainer is not None:
            epoch = self.trainer.current_epoch
            share = Share(
                self.trainer.strategy.root_device, self.trainer.global_rank, self.trainer.world_size
            )
        generator = torch.Generator().manual_seed(self.epoch_seed(epoch))
        batches = self._examples.epoch(self.batch_size, generator, share)
        return _loader(batches)

    def val_dataloader(self) -> DataLoader[Any]:
        """One batch: the validation triples are ranked all at once, in chunks of the evaluation's own."""
        return _loader([self.kg.valid])


def _loader(batches: Batches) -> DataLoader[Any]:
    """Of whole batches; it leaves torch's own generator alone, which is dropout's."""
    return DataLoader(_Epoch(batches), batch_size=None, generator=torch.Generator())
