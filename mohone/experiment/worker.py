"""What a process of several that Lightning spawns does on arriving there."""

from __future__ import annotations

from typing import Any

from pytorch_lightning.callbacks import Callback

from mohone.core.runtime import keep_freed_memory, keeps_freed_memory, quiet_lightning


class Worker(Callback):
    """Makes a process that Lightning spawns as quiet and quick as the job's own, on arriving there."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickled by `_arrive`, before anything else is done in the new process."""
        return _arrive, (keeps_freed_memory(),)


def _arrive(keeps_memory: bool) -> Worker:
    quiet_lightning()
    if keeps_memory:
        keep_freed_memory()
    return Worker()
