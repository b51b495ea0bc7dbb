"""A training that goes on where it was: its state in a file, as data, at the end of epochs."""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint

from mohone.core.files import clear_parts, part_beside

_SECONDS_BETWEEN_FILES = 30.0


class KeepProgress(Checkpoint):
    """Writes weights, optimiser, history and best weights after validated epochs, aside and into place.

    Args:
        path: of the file.
        every: epochs between validations; the state after others is not that of a longer training.
        at_end: also after the last epoch, for a longer training to go on from.
    """

    def __init__(self, path: Path, every: int, at_end: bool) -> None:
        self.path, self.every, self.at_end = path, every, at_end
        self._part = part_beside(path)  # Of all processes of this training, and of no other.
        self._last = time.monotonic()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Called after the module's own, so that the epoch is in its history."""
        n_epochs = trainer.current_epoch + 1
        if n_epochs % self.every:
            return
        is_last = trainer.should_stop or n_epochs == trainer.max_epochs
        is_due = not is_last and time.monotonic() - self._last >= _SECONDS_BETWEEN_FILES
        if trainer.strategy.broadcast(is_due or (is_last and self.at_end)):
            self._write(trainer)
            self._last = time.monotonic()

    def _write(self, trainer: pl.Trainer) -> None:
        if trainer.is_global_zero:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            clear_parts(self.path)
        trainer.save_checkpoint(self._part)
        if trainer.is_global_zero:
            self._part.replace(self.path)


def progress_in(path: Path | None) -> tuple[int, float]:
    """How many epochs of training a file has, and how long they took; 0 if it cannot be read."""
    if path is None or not path.exists():
        return 0, 0.0
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
        return int(state["epoch"]) + 1, float(state["state_dict"]["_extra_state"]["seconds"])
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, pickle.UnpicklingError):
        return 0, 0.0
