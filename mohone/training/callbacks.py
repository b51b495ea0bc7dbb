"""Callbacks of a training: the best weights, a seed for each epoch, a line in the log."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor

from mohone.training.data_module import TripleDataModule
from mohone.training.given_up import History, Least, first_below
from mohone.training.module import KGEModule
from mohone.training.settings import VALID_MRR

log = logging.getLogger(__name__)
_SECONDS_BETWEEN_LINES = 10.0


class BestWeights(Callback):
    """Keeps the weights of the best validation, stops when it stays away, and puts them back at the end.

    One callback in place of Lightning's EarlyStopping and ModelCheckpoint, because the weights *before* the
    first step can be a candidate too (`from_start`): what is trained further is then only kept where
    validation says it helps. It needs no file that a later `ckpt_path="best"` could mistake for the result.

    Args:
        patience: validations without a new best after which training stops.
        from_start: validate before the first step.
        file: where the best weights are kept, if not in memory.
        must_reach: the MRR that the best must have by epochs; training stops where it has not.
    """

    def __init__(
        self, patience: int, from_start: bool = False, file: Path | None = None, must_reach: Least = ()
    ) -> None:
        self.patience, self.from_start, self.file, self.must_reach = patience, from_start, file, must_reach
        self._state: dict[str, Tensor] = {}
        self._waited = 0

    def state_dict(self) -> dict[str, Any]:
        """The best weights, unless they lie in a file of their own, and how long ago they were."""
        return {"weights": self._state, "waited": self._waited}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take what an earlier part of the training left."""
        self._state, self._waited = state_dict["weights"], state_dict["waited"]

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Take the score to beat; stop at once where an earlier part had stopped."""
        trainer.should_stop = trainer.should_stop or self._waited >= self.patience
        if isinstance(pl_module, KGEModule):
            self._give_up(trainer, pl_module.history)
        if self.from_start and isinstance(pl_module, KGEModule):
            self._consider(trainer, pl_module, pl_module.validation.mrr(pl_module.model), epoch=0)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Compare with the best so far."""
        if isinstance(pl_module, KGEModule) and pl_module.valid_mrr is not None:
            epoch = trainer.current_epoch + 1
            self._consider(trainer, pl_module, pl_module.valid_mrr, epoch)
            self._give_up(trainer, [*pl_module.history, {"epoch": epoch, "valid_mrr": pl_module.valid_mrr}])

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Validate the last epoch if none of its own did."""
        if isinstance(pl_module, KGEModule):
            last = pl_module.history[-1] if pl_module.history else None
            if last and last["valid_mrr"] is None:
                with pl_module.naming(len(pl_module.history), last["loss"] or 0.0):
                    score = last["valid_mrr"] = pl_module.validation.mrr(pl_module.model)
                self._consider(trainer, pl_module, score, epoch=len(pl_module.history))

    def on_fit_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Put the best weights back, also where an earlier part had trained all epochs and none is left."""
        if not isinstance(pl_module, KGEModule):
            return
        if self._state:
            pl_module.model.load_state_dict(self._state)
        elif self.file is not None and self.file.exists():
            pl_module.load_weights(self.file)

    def _consider(self, trainer: pl.Trainer, pl_module: KGEModule, score: float, epoch: int) -> None:
        if score > pl_module.best_mrr:
            pl_module.best_mrr, pl_module.best_epoch, self._waited = score, epoch, 0
            self._keep(pl_module)
        else:
            self._waited += 1
            trainer.should_stop = trainer.should_stop or self._waited >= self.patience

    def _give_up(self, trainer: pl.Trainer, history: History) -> None:
        """Stop what has not reached what it must; `fit` says so, for this may be another process."""
        hopeless = first_below(history, self.must_reach, trainer.max_epochs or 0) is not None
        trainer.should_stop = trainer.should_stop or hopeless

    def _keep(self, module: KGEModule) -> None:
        if self.file is None:
            self._state = {name: t.detach().clone() for name, t in module.model.state_dict().items()}
        else:  # A training that is killed and goes on comes by the same epoch again, and writes the same.
            module.save_weights(self.file)


class EpochSeed(Callback):
    """Begins each epoch with a random state of its own (dropout's): a training in parts is the whole.

    Each process has another: their shares of a batch are not dropped alike.
    """

    def __init__(self, data: TripleDataModule) -> None:
        self.data = data

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Seed torch."""
        torch.manual_seed(self.data.epoch_seed(trainer.current_epoch) + (trainer.global_rank << 40))


class EpochLines(Callback):
    """A line in the log for an epoch, at most every ten seconds, for those who see no progress bar."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self._last = time.monotonic()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Say where training stands."""
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            score = float(trainer.callback_metrics[VALID_MRR])
            log.info(
                "%s: epoch %d/%s, validation MRR %.4f",
                self.stage,
                trainer.current_epoch + 1,
                trainer.max_epochs,
                score,
            )
