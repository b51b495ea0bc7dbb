"""What a process that trains or evaluates sets once: memory, warnings, progress bars, sparse products."""

from __future__ import annotations

import ctypes
import logging
import sys
import warnings

from mohone.core.config import Plain
from mohone.core.errors import require_bool
from mohone.core.progress import want_progress
from mohone.core.sparse import use_backend

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # Of glibc's mallopt.
_LARGEST = 2**31 - 1
_QUIET = ("pytorch_lightning", "lightning", "lightning.pytorch", "lightning.fabric", "lightning_fabric")
_kept = False


def prepare_process(config: Plain) -> None:
    """Set them as a job's configuration says.

    Raises:
        ConfigError: a value that cannot be.
    """
    quiet_lightning()
    if require_bool("allocator", config.get("allocator")):
        keep_freed_memory()
    want_progress(require_bool("progress", config.get("progress")))
    use_backend(config.get("sparse"))


def seed_everything(seed: int) -> None:
    """Seed all that draws random numbers, in this process and in those that it starts."""
    import pytorch_lightning as pl  # Which takes seconds: only what trains wants them.

    pl.seed_everything(seed, verbose=False)


def keeps_freed_memory() -> bool:
    """Was it done in this process?"""
    return _kept


def keep_freed_memory() -> bool:
    """Tell glibc not to give large blocks back to the system (one TransE step fell from 727 to 126 ms).

    With glibc's defaults, page faults cost more than the arithmetic.

    Returns:
        whether it was done: only on Linux with glibc.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    global _kept
    _kept = bool(mallopt(_M_MMAP_THRESHOLD, _LARGEST) and mallopt(_M_TRIM_THRESHOLD, _LARGEST))
    return _kept


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
        r"Experiment logs directory .* exists and is not empty",  # A training that goes on.
        r"`LightningModule.configure_optimizers` returned `None`",
        r"Your `IterableDataset` has `__len__` defined",
        r"It is recommended to use `self.log\(.*, sync_dist=True\)`",
        "Sparse invariant checks are implicitly disabled",  # Of the steps of torch's Adagrad by row.
    ):
        warnings.filterwarnings("ignore", message=message)
