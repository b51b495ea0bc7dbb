"""A training that goes on where it was: its state in a file, as data, at the end of epochs."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any, Protocol

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins.io import TorchCheckpointIO
from pytorch_lightning.callbacks import Checkpoint

from mohone.core.files import clear, clear_parts, part_beside
from mohone.core.torch_file import fault_of_tensors

log = logging.getLogger(__name__)
PARTS = ".parts"
_PARTS_OF_STATE = ("callbacks", "loops", "optimizer_states", "lr_schedulers")
_SECONDS_BETWEEN_FILES = 2.0  # At least, and twenty times as many as a file takes.
_WRITTEN_AT_ONCE = 0.1  # Seconds to write a file, up to which that is so.


class StreamedIO(TorchCheckpointIO):
    """Writes and reads a training's state without a second copy of it in memory."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Straight to the file, which the caller puts in its place."""
        del storage_options
        Path(path).parent.mkdir(parents=True, exist_ok=True)  # Of callbacks that keep files of their own.
        torch.save(checkpoint, path)

    def load_checkpoint(
        self, path: Any, map_location: Any = "cpu", weights_only: bool | None = True
    ) -> dict[str, Any]:
        """Mapped into memory, as data alone."""
        del weights_only
        state: dict[str, Any] = torch.load(path, map_location=map_location, weights_only=True, mmap=True)
        return state


class KeepProgress(Checkpoint):
    """Writes weights, optimiser, history and best weights after validated epochs, aside and into place.

    Args:
        path: of the file.
        every: epochs between validations; the state after others is not that of a longer training.
        at_end: also after the last epoch, for a longer training to go on from.
    """

    def __init__(self, path: Path, every: int, at_end: bool) -> None:
        self.path, self.every, self.at_end = path, every, at_end
        self._shortest = self._pause = _SECONDS_BETWEEN_FILES  # Taken along to other processes.
        self._part = part_beside(path)  # Of all processes of this training, and of no other.
        self._last = time.monotonic()

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:  # noqa: ARG002
        """Before an earlier state is read."""
        trainer.strategy.checkpoint_io = StreamedIO()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Called after the module's own, so that the epoch is in its history."""
        n_epochs = trainer.current_epoch + 1
        if n_epochs % self.every:
            return
        is_last = trainer.should_stop or n_epochs == trainer.max_epochs
        is_due = not is_last and time.monotonic() - self._last >= self._pause
        if trainer.strategy.broadcast(is_due or (is_last and self.at_end)):
            begun = time.monotonic()
            self._write(trainer)
            self._last = time.monotonic()
            self._pause = _longer(self._shortest, self._last - begun)

    def _write(self, trainer: pl.Trainer) -> None:
        if trainer.is_global_zero:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            clear_parts(self.path)
        trainer.save_checkpoint(self._part)
        if trainer.is_global_zero:
            if self.path.is_dir():  # Nothing of ours.
                clear(self.path)
            self._part.replace(self.path)
            own = parts_of(self.path, trainer.current_epoch + 1)
            for parts in self.path.parent.glob(f"{self.path.stem}-*{PARTS}"):
                if parts != own:
                    clear(parts)


def _longer(pause: float, seconds: float) -> float:
    """The pause before the next file of one that took so many seconds.

    >>> _longer(2.0, 0.01), _longer(2.0, 5.0)
    (2.0, 100.0)
    """
    return pause * max(1.0, seconds / _WRITTEN_AT_ONCE)


def parts_of(path: Path, epoch: int) -> Path:
    """The folder of what lies in several processes of the state that is kept in `path` after an epoch."""
    return path.with_name(f"{path.stem}-{epoch}{PARTS}")


def remove(path: Path) -> None:
    """Remove a state, and the folders of its parts, if they are there."""
    clear(path)
    for parts in path.parent.glob(f"{path.stem}-*{PARTS}"):
        clear(parts)


def progress_in(path: Path | None) -> tuple[int, float]:
    """How many epochs of training a file has, and how long they took; 0 if it cannot be read."""
    if path is None or not path.exists():
        return 0, 0.0
    if fault := fault_of_tensors(path):
        log.warning("%s is damaged (%s): the training begins anew", path, fault)
        return 0, 0.0
    state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu", mmap=True)
    try:
        return int(state["epoch"]) + 1, float(state["state_dict"]["_extra_state"]["seconds"])
    except (KeyError, TypeError, ValueError, OverflowError):  # Of another program.
        return 0, 0.0


class Weights(Protocol):
    """A module, as far as it can tell whether what it is to go on from is whole."""

    def fault_of_parts(self, state: dict[str, Any]) -> str | None:
        """What is wrong with what lies beside a state."""
        ...

    def fault_of_weights(self, path: Path) -> str | None:
        """What is wrong with weights on the disk, as `it ...`."""
        ...


def fault_of_state(path: Path, module: Weights, best: Path | None) -> str | None:
    """Why a training cannot go on from a state, whose own file is whole; None: it can.

    Args:
        path: of the state.
        module: to be trained.
        best: where its best weights are, if not in the state.
    """
    state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu", mmap=True)
    missing = [key for key in _PARTS_OF_STATE if key not in state]
    if missing:
        return f"it has no {missing[0]}"
    if fault := module.fault_of_parts(state):
        return fault
    callbacks = state["callbacks"].values()
    in_state = any(isinstance(each, dict) and each.get("weights") for each in callbacks)
    if best is None or in_state or state["state_dict"]["_extra_state"]["best_epoch"] < 0:
        return None
    fault = module.fault_of_weights(best) if best.exists() else "is not there"
    return f"{best.name}, its best weights, {fault}" if fault else None
