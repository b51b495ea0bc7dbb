"""Where numba keeps what it has compiled, if neither the package nor the user's home can be written."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"


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
