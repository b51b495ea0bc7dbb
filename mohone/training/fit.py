"""Training to the best validation score: a fresh Trainer, early stopping, the best weights at the end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from lightning_fabric.utilities.exceptions import MisconfigurationException
from pytorch_lightning.callbacks import Callback

from mohone.core.errors import ConfigError, TrainingError, first_line
from mohone.core.peers import peers_live
from mohone.training.callbacks import BestWeights, EpochLines, EpochSeed
from mohone.training.data_module import TripleDataModule
from mohone.training.given_up import Least, check_course
from mohone.training.module import KGEModule
from mohone.training.resume import KeepProgress, fault_of_state, progress_in, remove
from mohone.training.settings import Fit

log = logging.getLogger(__name__)
MakeTrainer = Callable[..., pl.Trainer]


def fit(
    module: KGEModule,
    data: TripleDataModule,
    make_trainer: MakeTrainer,
    *,
    stage: str,
    callbacks: tuple[Callback, ...] = (),
    from_start: bool = False,
    progress: Path | None = None,
    must_reach: Least = (),
) -> dict[str, Any]:
    """Train `module` on a fresh Trainer and leave it with its best weights.

    Args:
        make_trainer: makes a Trainer of keyword arguments.
        stage: its name in the log.
        callbacks: further ones, called first.
        from_start: let the weights before training compete, as epoch 0.
        progress: a file in which the state is kept while it trains, and gone on from if it is there. With a
            constant learning rate it stays, for a training of more epochs to go on from.
        must_reach: the validation MRR below which it is given up, by epochs.

    Returns:
        `best_epoch` (counted from 1; 0: before training), `valid_mrr`, `history` by epoch, `resumed_after`
        (epochs of an earlier run; 0: none), `seconds_before` (of that).

    Raises:
        GivenUpError: it was.
        TrainingError: it broke down.
    """
    settings = module.settings.fit
    stays = module.settings.is_constant
    done, seconds = progress_in(progress)
    longer = done > settings.max_epochs  # Another training's, which this one must not shorten.
    best_file = _file_of_best(module, progress, ".shorter.best" if longer else ".best")
    module.progress = progress
    start = progress if 0 < done <= settings.max_epochs else None
    if start and (fault := fault_of_state(start, module, best_file)):
        log.warning("%s cannot be gone on from (%s): the training begins anew", start, fault)
        start = None
    best = BestWeights(settings.patience, from_start, best_file, must_reach)
    keep = [KeepProgress(progress, settings.validate_every, stays)] if progress and not longer else []
    trainer = make_trainer(
        stage,
        logged=start is None,
        max_epochs=settings.max_epochs,
        check_val_every_n_epoch=min(settings.validate_every, settings.max_epochs),
        callbacks=[*callbacks, best, EpochSeed(data), EpochLines(stage), *keep],
        enable_checkpointing=bool(keep),
    )
    if start:
        log.info("%s: going on after epoch %d, from %s", stage, done, start)
        module.seconds_before = seconds
    module.started = time.perf_counter()
    _fit(trainer, module, data, start)
    check_course(module.history, must_reach, settings.max_epochs)
    if trainer.is_global_zero:  # Another process is only here where no other one runs the job.
        if progress and not stays:
            remove(progress)
        if best_file and (longer or not stays):
            remove(best_file)
    if module.best_epoch < 0:
        raise TrainingError(f"The {stage} must be trained for an epoch at least, but no epoch ended.")
    log.info(
        "%s: best validation MRR %.4f after epoch %d; %s",
        stage,
        module.best_mrr,
        module.best_epoch,
        _how_it_ended(len(module.history), settings),
    )
    return {
        "best_epoch": module.best_epoch,
        "valid_mrr": module.best_mrr,
        "history": module.history,
        "resumed_after": done if start else 0,
        "seconds_before": seconds if start else 0.0,
    }


def _file_of_best(module: KGEModule, progress: Path | None, suffix: str) -> Path | None:
    """Where the best weights are kept while training goes on; None: in memory, where they fit well."""
    if progress is None or not module.is_large:
        return None
    return progress.with_suffix(suffix)


def _how_it_ended(n_epochs: int, settings: Fit) -> str:
    """How many epochs were trained, and why not more."""
    if n_epochs >= settings.max_epochs:
        return f"all {settings.max_epochs} were trained" if n_epochs > 1 else "it was the only one"
    times = "1 validation" if settings.patience == 1 else f"{settings.patience} validations"
    return f"stopped after {n_epochs} of {settings.max_epochs}, since {times} brought no better one"


def _fit(trainer: pl.Trainer, module: KGEModule, data: TripleDataModule, start: Path | None) -> None:
    """Fit; what another process says in a sentence, or Lightning refuses, is said in a sentence."""
    try:
        with peers_live():
            trainer.fit(module, datamodule=data, ckpt_path=start, weights_only=True)
    except MisconfigurationException as error:
        raise ConfigError(
            f"`trainer` and `callbacks` must suit Lightning, but: {first_line(error)}."
        ) from error
