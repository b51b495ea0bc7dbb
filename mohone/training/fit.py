"""Training to the best validation score: a fresh Trainer, early stopping, the best weights at the end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor
from torch.multiprocessing.spawn import ProcessRaisedException

from mohone.core.errors import TrainingError
from mohone.training.module import VALID_MRR, KGEModule, TripleDataModule
from mohone.training.resume import KeepProgress, progress_in

log = logging.getLogger(__name__)
MakeTrainer = Callable[..., pl.Trainer]
_SECONDS_BETWEEN_LINES = 10.0


class BestWeights(Callback):
    """Keeps the weights of the best validation, stops when it stays away, and puts them back at the end.

    One callback in place of Lightning's EarlyStopping and ModelCheckpoint, because the weights *before* the
    first step can be a candidate too (`from_start`): what is trained further is then only kept where
    validation says it helps. It needs no file that a later `ckpt_path="best"` could mistake for the result.

    Args:
        patience: validations without a new best after which training stops.
        from_start: validate before the first step.
    """

    def __init__(self, patience: int, from_start: bool = False) -> None:
        self.patience, self.from_start = patience, from_start
        self._state: dict[str, Tensor] = {}
        self._waited = 0

    def state_dict(self) -> dict[str, Any]:
        """The best weights, and how long ago they were."""
        return {"weights": self._state, "waited": self._waited}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take what an earlier part of the training left."""
        self._state, self._waited = state_dict["weights"], state_dict["waited"]

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Take the score to beat; stop at once where an earlier part had stopped."""
        trainer.should_stop = trainer.should_stop or self._waited >= self.patience
        if self.from_start and isinstance(pl_module, KGEModule):
            self._consider(trainer, pl_module, pl_module.validation.mrr(pl_module.model), epoch=0)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Compare with the best so far."""
        if isinstance(pl_module, KGEModule) and pl_module.valid_mrr is not None:
            self._consider(trainer, pl_module, pl_module.valid_mrr, epoch=trainer.current_epoch + 1)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Validate the last epoch if none of its own did, and put the best weights back."""
        if isinstance(pl_module, KGEModule):
            last = pl_module.history[-1] if pl_module.history else None
            if last and last["valid_mrr"] is None:
                with pl_module.naming(len(pl_module.history), last["loss"] or 0.0):
                    score = last["valid_mrr"] = pl_module.validation.mrr(pl_module.model)
                self._consider(trainer, pl_module, score, epoch=len(pl_module.history))
            self._put_back(pl_module)

    def on_fit_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Put them back, too, where an earlier part had trained all epochs: Lightning trains none then."""
        if isinstance(pl_module, KGEModule):
            self._put_back(pl_module)

    def _put_back(self, pl_module: KGEModule) -> None:
        if self._state:
            pl_module.model.load_state_dict(self._state)

    def _consider(self, trainer: pl.Trainer, pl_module: KGEModule, score: float, epoch: int) -> None:
        if score > pl_module.best_mrr:
            pl_module.best_mrr, pl_module.best_epoch, self._waited = score, epoch, 0
            self._state = {k: v.detach().clone() for k, v in pl_module.model.state_dict().items()}
        else:
            self._waited += 1
            trainer.should_stop = trainer.should_stop or self._waited >= self.patience


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


def fit(
    module: KGEModule,
    data: TripleDataModule,
    make_trainer: MakeTrainer,
    *,
    stage: str,
    callbacks: tuple[Callback, ...] = (),
    from_start: bool = False,
    progress: Path | None = None,
) -> dict[str, Any]:
    """Train `module` on a fresh Trainer and leave it with its best weights.

    Args:
        make_trainer: makes a Trainer of keyword arguments.
        stage: its name in the log.
        callbacks: further ones, called first.
        from_start: let the weights before training compete, as epoch 0.
        progress: a file in which the state is kept while it trains, and gone on from if it is there. With a
            constant learning rate it stays, for a training of more epochs to go on from.

    Returns:
        `best_epoch` (counted from 1; 0: before training), `valid_mrr`, `history` by epoch, `resumed_after`
        (epochs of an earlier run; 0: none), `seconds_before` (of that).
    """
    settings = module.settings
    best = BestWeights(settings.patience, from_start)
    stays = settings.schedule == "constant"
    done, seconds = progress_in(progress)
    start = progress if 0 < done <= settings.max_epochs else None
    longer = done > settings.max_epochs  # Another training's, which this one must not shorten.
    keep = [KeepProgress(progress, settings.validate_every, stays)] if progress and not longer else []
    trainer = make_trainer(
        stage,
        logged=start is None,
        max_epochs=settings.max_epochs,
        check_val_every_n_epoch=min(settings.validate_every, settings.max_epochs),
        reload_dataloaders_every_n_epochs=1,
        callbacks=[*callbacks, best, EpochSeed(data), EpochLines(stage), *keep],
        enable_checkpointing=bool(keep),
    )
    if start:
        log.info("%s: going on after epoch %d, from %s", stage, done, start)
        module.seconds_before = seconds
    module.started = time.perf_counter()
    _fit(trainer, module, data, start)
    if progress and not stays:
        progress.unlink(missing_ok=True)
    if module.best_epoch < 0:
        raise TrainingError(f"The {stage} must be trained for an epoch at least, but no epoch ended.")
    log.info(
        "%s: best validation MRR %.4f after epoch %d of %d",
        stage,
        module.best_mrr,
        module.best_epoch,
        len(module.history),
    )
    return {
        "best_epoch": module.best_epoch,
        "valid_mrr": module.best_mrr,
        "history": module.history,
        "resumed_after": done if start else 0,
        "seconds_before": seconds if start else 0.0,
    }


def _fit(trainer: pl.Trainer, module: KGEModule, data: TripleDataModule, start: Path | None) -> None:
    """Fit; what another process says in a sentence is said in that sentence."""
    try:
        trainer.fit(module, datamodule=data, ckpt_path=start, weights_only=True)
    except ProcessRaisedException as error:
        kind, _, sentence = str(error).strip().split("\n")[-1].partition(": ")
        if kind.endswith(f".{TrainingError.__name__}"):
            raise TrainingError(sentence) from None
        raise
