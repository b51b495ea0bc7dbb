"""Processes of one job that torchrun has started, on one machine or several: the first runs it, all train.

Each is started with the same command and sees the same files. The first one goes through the job as if it
were alone; the others wait until it trains the baseline, and train it together with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from mohone.core.errors import ConfigError, GivenUpError
from mohone.core.peers import peers_live

_END, _TRAIN = 0, 1
_PATIENCE = timedelta(days=7)  # The first may learn a network embedding, or evaluate, for hours.


def is_launched() -> bool:
    """Has torchrun started this process, among others?"""
    return "TORCHELASTIC_RUN_ID" in os.environ and size() > 1


def size() -> int:
    """How many processes torchrun has started; 1: none."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "TORCHELASTIC_RUN_ID" in os.environ else 1


def is_member() -> bool:
    """Is this one of those that help the first?"""
    return is_launched() and int(os.environ["RANK"]) > 0


def check_size(n_processes: int) -> None:
    """Does the Trainer want as many processes as there are?

    Raises:
        ConfigError: torchrun has started another number.
    """
    if is_launched() and n_processes != size():
        raise ConfigError(
            "`trainer.devices` times `trainer.num_nodes` must be the number of processes that torchrun has "
            f"started, {size()}, but is {n_processes}."
        )


@contextmanager
def assembled() -> Iterator[None]:
    """In the block of the first process the others can be called; when it ends well or is given up, they end.

    If it fails, they are left alone: torchrun ends them as it sees the first one end.
    """
    if not is_launched():
        yield
        return
    _meet()
    try:
        yield
    except GivenUpError:  # All of them have stopped, and none has failed.
        _dismiss()
        raise
    _dismiss()


def call_members() -> None:
    """In the first process: let the others train the baseline with this one, from now on."""
    if is_launched():
        _say(_TRAIN)


def help_first(train: Callable[[], None]) -> None:
    """In the others: train as often as the first calls, until it is done."""
    _meet()
    with peers_live():
        while _say() == _TRAIN:
            train()
    _part()


def _meet() -> None:
    """One group for all that follows, so that Lightning makes none of its own."""
    import torch  # It takes seconds, which help and typos should not.

    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    torch.distributed.init_process_group(backend, timeout=_PATIENCE)


def _say(word: int = _END) -> int:
    """What the first process says."""
    import torch

    told = torch.tensor(word)
    torch.distributed.broadcast(told, 0)
    return int(told)


def _dismiss() -> None:
    """In the first process: let the others end."""
    _say(_END)
    _part()


def _part() -> None:
    import torch

    torch.distributed.destroy_process_group()
