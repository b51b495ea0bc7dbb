"""One fresh Trainer for each stage, quiet and quick: figures once an epoch, no files of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from mohone.core.config import Plain, find_object
from mohone.core.errors import ConfigError, first_line, require_choice, require_int
from mohone.core.progress import progress_shown
from mohone.core.runtime import quiet_lightning
from mohone.experiment.loggers import JobLogger
from mohone.experiment.team import check_size, is_launched

if TYPE_CHECKING:
    import pytorch_lightning as pl
    from pytorch_lightning.callbacks import Callback

_OURS = (
    "max_epochs",
    "check_val_every_n_epoch",
    "reload_dataloaders_every_n_epochs",
    "callbacks",
    "logger",
    "enable_checkpointing",
    "enable_model_summary",
    "enable_progress_bar",
    "num_sanity_val_steps",
    "log_every_n_steps",
    "default_root_dir",
)
TOGETHER = "baseline"  # The stage that processes of several machines train; all else is the first one's.
# 16-true overflows; bf16-true keeps tables and ranks by two to three digits.
_PRECISIONS = ("32-true", "64-true", "bf16-mixed", "16-mixed")


class TrainerFactory:
    """Makes the Trainer of a stage from the `trainer` group.

    Args:
        trainer: Lightning's Trainer, or a class like it, as `_target_`, and its keyword arguments.
        folder: the job's.
        logger: where curves go while a stage is trained, if in one process; None: nowhere.

    Attributes:
        n_processes: of a Trainer.
    """

    def __init__(self, trainer: Plain, folder: Path, logger: JobLogger | None = None) -> None:
        self._target = trainer.get("_target_")
        self.arguments = {key: value for key, value in trainer.items() if key != "_target_"}
        for key in _OURS:
            if key in self.arguments:
                raise ConfigError(f"`trainer.{key}` must be left out, for stages set their own, but is set.")
        require_choice("trainer.precision", self.arguments.get("precision", "32-true"), _PRECISIONS)
        n_nodes = require_int("trainer.num_nodes", self.arguments.get("num_nodes", 1), 1)
        if n_nodes > 1 and not is_launched():
            raise ConfigError(
                f"`trainer.num_nodes` must be 1 where torchrun has started no processes, but is {n_nodes}."
            )
        self.n_processes = n_nodes * require_int("trainer.devices", self.arguments.get("devices", 1), 1)
        check_size(self.n_processes)
        strategy = str(self.arguments.get("strategy", "auto"))
        if self.n_processes > 1 and not strategy.startswith("ddp_spawn"):
            raise ConfigError(
                f"`trainer.strategy` must be a ddp_spawn one with {self.n_processes} devices, but is "
                f"{strategy!r}: choose `trainer=ddp`."
            )
        self.folder, self.logger = folder, logger or JobLogger()

    def check(self) -> None:
        """Refuse, before any work, what no stage could be trained with.

        Raises:
            ConfigError: if there is no such device, or Lightning refuses the `trainer` group.
        """
        _ = self.device
        self("check", logged=False)

    @cached_property
    def _make(self) -> Callable[..., pl.Trainer]:
        """Lightning's Trainer, or one like it, that is configured."""
        try:
            found = find_object(str(self._target))
        except Exception:  # Hydra has one each for what is no name, no module and no part of one.
            found = None
        if not callable(found):
            raise ConfigError(f"`trainer._target_` must be a Trainer, but is {self._target!r}.")
        made: Callable[..., pl.Trainer] = found
        return made

    @property
    def device(self) -> torch.device:
        """Where models are between fits: for choosing, evaluating, retrofitting.

        Raises:
            ConfigError: if a GPU is asked for where there is none.
        """
        if self.arguments.get("accelerator", "cpu") not in ("gpu", "cuda"):
            return torch.device("cpu")
        if not torch.cuda.is_available():
            raise ConfigError("`trainer.accelerator` must be cpu where there is no GPU, but is gpu.")
        return torch.device("cuda", 0)

    def __call__(
        self,
        stage: str,
        callbacks: Iterable[Callback] = (),
        *,
        one_process: bool = False,
        logged: bool = True,
        **arguments: Any,
    ) -> pl.Trainer:
        """A Trainer that nobody has used.

        Args:
            stage: its name; its curves go into a folder of that name.
            callbacks: further ones.
            one_process: whatever `trainer.devices` says.
            logged: are curves drawn while it trains? With several processes they never are.
            **arguments: of Lightning's Trainer; they win over the `trainer` group.

        Raises:
            ConfigError: if Lightning refuses the `trainer` group.
        """
        from pytorch_lightning.callbacks import TQDMProgressBar

        quiet_lightning()  # Its import, if it was this one, has made it talk.
        bar = [TQDMProgressBar(refresh_rate=20)] if progress_shown() else []
        one_process = one_process or (is_launched() and stage != TOGETHER)
        several = self.n_processes > 1 and not one_process
        if one_process:
            arguments |= {"devices": 1, "num_nodes": 1, "strategy": "auto"}
        elif is_launched():
            arguments |= {"strategy": self.arguments["strategy"].replace("ddp_spawn", "ddp")}
        if several:
            os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # Of hints that are none for us.
            from mohone.experiment.worker import Worker

            callbacks = [Worker(), *callbacks]
        is_logged = logged and not several and self.logger.is_open
        curves = self.logger.curves(stage) if is_logged else None
        make = self._make
        try:
            return make(
                **{"enable_checkpointing": False, **self.arguments, **arguments},
                callbacks=[*callbacks, *bar],
                logger=curves or False,
                enable_model_summary=False,
                enable_progress_bar=progress_shown(),
                num_sanity_val_steps=0,
                log_every_n_steps=1_000_000,
                default_root_dir=self.folder,
            )
        except Exception as error:  # Lightning has many for what it refuses.
            reason = first_line(error)
            raise ConfigError(f"`trainer` must suit Lightning's Trainer, but: {reason}.") from error
