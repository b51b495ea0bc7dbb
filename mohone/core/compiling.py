"""What numba compiles: how long that takes, said and told apart from the work, and where it is kept."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COSTS = ("seconds", "cpu_seconds", "peak_gb")
_VARIABLE = "NUMBA_CACHE_DIR"


@dataclass
class Watch:
    """What work cost.

    Attributes:
        seconds: by the clock, without those of compiling.
        compiling: seconds in which its loops were compiled.
        cpu_seconds: of all threads of this process, without those of compiling.
        peak_gb: the most memory that the process has held until the end of the work.
    """

    seconds: float = 0.0
    compiling: float = 0.0
    cpu_seconds: float = 0.0
    peak_gb: float = 0.0

    @property
    def costs(self) -> dict[str, float]:
        """All that a result says of it."""
        return {name: getattr(self, name) for name in COSTS}


@contextlib.contextmanager
def watched(name: str) -> Iterator[Watch]:
    """Measure a block; the first loop of it that numba must compile is told in the log.

    Args:
        name: of the work, for the log.

    Returns:
        the seconds, once the block has ended.
    """
    import logging  # `import mohone` is to be quick.

    from numba.core import event

    from mohone.core.machine import peak_memory

    log = logging.getLogger(__name__)

    class Listener(event.TimingListener):  # type: ignore[misc]
        """Counts what happens inside of what is compiled once."""

        said = False

        def on_start(self, event: object) -> None:
            if not self.said:
                log.info("%s: compiling loops (once: they are kept)", name)
            self.said = True
            super().on_start(event)

    watch, start, worked = Watch(), time.perf_counter(), time.process_time()
    with event.install_listener("numba:compile", Listener()) as listener:
        yield watch
    watch.compiling = listener.duration if listener.done else 0.0
    watch.seconds = time.perf_counter() - start - watch.compiling
    watch.cpu_seconds = max(0.0, time.process_time() - worked - watch.compiling)
    watch.peak_gb = peak_memory() / 1e9


def find_cache() -> None:
    """Name a folder for numba if it would find none, and say so, once: numba would refuse to compile.

    To be called before numba is imported. Processes that are started later are told by the environment.
    """
    if os.environ.get(_VARIABLE) or _can_write(Path(__file__).parent / "__pycache__"):
        return
    if _can_write(_user_cache()):
        return
    folder = _own_folder()
    os.environ[_VARIABLE] = str(folder)
    print(f"Neither the package nor the home folder can be written: compiled into {folder}.", file=sys.stderr)


def _user_cache() -> Path | None:
    """Of numba's choice, on Linux; None: the user has no home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None


def _can_write(folder: Path | None) -> bool:
    """Can it, or the nearest folder above it that is there, be written?"""
    if folder is None:
        return False
    there = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    return os.access(there, os.W_OK | os.X_OK)


def _own_folder() -> Path:
    """One for passing files that nobody else can write to: what lies there is run."""
    import tempfile  # `import mohone` is to be quick.

    folder = Path(tempfile.gettempdir()) / f"mohone-compiled-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="mohone-compiled-"))
