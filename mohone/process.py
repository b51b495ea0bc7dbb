"""What a process that trains or evaluates sets once: memory, warnings, progress bars, sparse products."""

from __future__ import annotations

from mohone.allocator import keep_freed_memory
from mohone.config import Plain
from mohone.errors import require_bool
from mohone.graph.sparse import use_backend
from mohone.progress import want_progress
from mohone.trainers import quiet_lightning


def prepare_process(config: Plain) -> None:
    """Set them as a job's configuration says.

    Raises:
        ConfigError: a value that cannot be.
    """
    quiet_lightning()
    if require_bool("allocator", config["allocator"]):
        keep_freed_memory()
    want_progress(require_bool("progress", config["progress"]))
    use_backend(config["sparse"])
