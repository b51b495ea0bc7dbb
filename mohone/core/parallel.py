"""Compiled loops on all threads: plain Python threads, since the loops let go of the interpreter's lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_here = threading.local()


def in_chunks(
    loop: Callable[[int, int], object], n: int, least: int = 64, threads: int | None = None
) -> None:
    """Call `loop(start, stop)` on consecutive chunks of `range(n)`, as many at once as there are threads.

    Each item must depend on its own number alone; then the number of threads changes nothing.

    Args:
        loop: calls a function compiled with `nogil=True`.
        n: items.
        least: items below which a thread is not worth its start.
        threads: None: as many as torch has.

    Example:
        >>> done = []
        >>> in_chunks(lambda start, stop: done.extend(range(start, stop)), 5)
        >>> sorted(done)
        [0, 1, 2, 3, 4]
    """
    n_chunks = n // least
    if n_chunks > 1:
        # A loop within a loop has no threads of its own: all may be waiting for theirs.
        n_chunks = 1 if getattr(_here, "works", False) else min(threads or _threads_of_torch(), n_chunks)
    if n_chunks <= 1:
        loop(0, n)
        return
    bounds = [n * i // n_chunks for i in range(n_chunks + 1)]
    pool = _pool_of(os.getpid())
    others = [pool.submit(loop, *pair) for pair in pairwise(bounds[1:])]
    try:
        loop(*bounds[:2])  # This thread would only wait.
    finally:
        wait(others)
    for done in others:
        done.result()


@lru_cache(maxsize=1)
def _pool_of(process: int) -> ThreadPoolExecutor:  # noqa: ARG001
    """The threads of a process, which stay: to start them takes longer than many a loop. A fork has none."""
    return ThreadPoolExecutor(os.cpu_count(), "loops", _begin_to_work)  # Else 32 at most, of whatever many.


def _begin_to_work() -> None:
    _here.works = True


def _threads_of_torch() -> int:
    import torch  # What reads small files needs none of it, and it takes seconds.

    return torch.get_num_threads()
