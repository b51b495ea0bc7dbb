"""Run commands at once: `at_once.py JSON`, a list of their lists of arguments.

With `--no-locks` before it none sees a lock of another, as on machines that share files but no locks.

Prints, as JSON, the exit code and the output of each. They are forked, as in `kill_sweep.py`.
"""

import json
import os
import sys
from pathlib import Path

from kill_sweep import start  # type: ignore[import-not-found]

import mohone.core.files


class NoLock:
    """A lock that everybody has."""

    def __init__(self, path: Path) -> None:
        path.touch()

    def acquire(self, timeout: float = -1) -> None: ...

    def release(self) -> None: ...


def begin(arguments: list[str], out: Path) -> int:
    """Start a command whose output goes to a file."""
    kept = os.dup(1), os.dup(2)
    with out.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        child = start(arguments)
    for stream, before in enumerate(kept, 1):
        os.dup2(before, stream)
    return int(child)


if __name__ == "__main__":
    commands = json.loads(sys.argv[-1])
    if "--no-locks" in sys.argv:
        mohone.core.files.FileLock = NoLock
    outs = [Path(f"{i}.out") for i in range(len(commands))]
    children = [begin(*each) for each in zip(commands, outs, strict=True)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps([[code, out.read_text()] for code, out in zip(codes, outs, strict=True)]))
