"""One fresh Trainer for each stage, quiet and quick: figures once an epoch, no files of its own."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from lightning_fabric.utilities.exceptions import MisconfigurationException
from pytorch_lightning.callbacks import Callback, TQDMProgressBar
from pytorch_lightning.loggers import CSVLogger, Logger

from mohone.config import Plain
from mohone.errors import ConfigError, require_choice
from mohone.progress import progress_shown

LOGGERS = ("csv", "none")
_QUIET = ("pytorch_lightning", "lightning", "lightning.pytorch", "lightning.fabric")


def quiet_lightning() -> None:
    """Silence notes on hardware and data loaders that a user of this program can do nothing about."""
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.ERROR)
    for message in (
        r"The '\w+_dataloader' does not have many workers",
        r".*lr_scheduler.step\(\).*",
        r"`isinstance\(treespec, LeafSpec\)` is deprecated",
        r".*`LeafSpec` is deprecated.*",
        r"The number of training batches",
        r"Your `IterableDataset` has `__len__` defined",
    ):
        warnings.filterwarnings("ignore", message=message)


class TrainerFactory:
    """Makes the Trainer of a stage from the `trainer` and `logger` groups.

    Args:
        trainer: keyword arguments of Lightning's Trainer.
        logger: `csv` or `none`.
        folder: where the curves go, in a folder for each stage.
    """

    def __init__(self, trainer: Plain, logger: str, folder: Path) -> None:
        self.arguments = {key: value for key, value in trainer.items() if key != "name"}
        for key in ("devices", "num_nodes"):
            if self.arguments.get(key, 1) != 1:
                raise ConfigError(f"`trainer.{key}` must be 1, but is {self.arguments[key]!r}.")
        self.logger = require_choice("logger.name", logger, LOGGERS)
        self.folder = folder

    def __call__(self, stage: str, callbacks: Iterable[Callback] = (), **arguments: Any) -> pl.Trainer:
        """A Trainer that nobody has used.

        Raises:
            ConfigError: if Lightning refuses the `trainer` group.
        """
        bar = [TQDMProgressBar(refresh_rate=20)] if progress_shown() else []
        try:
            return pl.Trainer(
                **self.arguments,
                **arguments,
                callbacks=[*callbacks, *bar],
                logger=self._logger(stage),
                enable_checkpointing=False,
                enable_model_summary=False,
                enable_progress_bar=progress_shown(),
                num_sanity_val_steps=0,
                log_every_n_steps=1_000_000,
                default_root_dir=self.folder,
            )
        except (TypeError, ValueError, MisconfigurationException) as error:
            first = str(error).strip().split("\n")[0].rstrip(".")
            raise ConfigError(f"`trainer` must suit Lightning's Trainer, but: {first}.") from error

    def _logger(self, stage: str) -> Logger | bool:
        if self.logger == "none":
            return False
        return CSVLogger(self.folder, name="curves", version=stage)
