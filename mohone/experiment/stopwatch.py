"""Steps of a training and other pieces of work, timed to reckon from them how long the whole will take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback

_WARM = 3  # Steps that are not counted.
_SECONDS = 15.0  # After which no further step is measured.


@dataclass(frozen=True)
class Time:
    """How long a stage takes: seconds (None: nobody has measured it), and what they were reckoned from."""

    seconds: float | None
    source: str


class Stopwatch(Callback):
    """Times the steps of a training, and stops it when it has enough of them."""

    def __init__(self) -> None:
        self.steps: list[float] = []
        self.before = 0.0  # Seconds from the beginning of the epoch to its first batch.
        self._begun = self._last = 0.0

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Begin."""
        self._begun = self._last = now()

    def on_train_batch_start(self, *_: Any) -> None:
        """Note what came before the first batch."""
        if not self.steps:
            self.before = now() - self._begun
            self._last = now()

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Note a step, with its share of what is between two of them."""
        ended = now()
        self.steps.append(ended - self._last)
        self._last = ended
        trainer.should_stop = ended - self._begun > _SECONDS

    @property
    def step(self) -> float:
        """Seconds of a usual step."""
        return statistics.median(self.steps[_WARM:] or self.steps[-1:])


def now() -> float:
    """Seconds, once a GPU has done what it was told."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds_of(work: Callable[[], object]) -> float:
    """How long a piece of work takes.

    Example:
        >>> done = []
        >>> seconds_of(lambda: done.append("it")) >= 0.0, done
        (True, ['it'])
    """
    begun = now()
    work()
    return now() - begun
