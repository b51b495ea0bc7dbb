"""How much memory this machine has left for a process, and how much the process holds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

GB = 1 << 30
_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_NO_LIMIT = 1 << 60  # Version 1 of cgroups has a number for none.


def held_memory() -> int:
    """Bytes that this process holds now; 0 where nobody can say (only Linux can)."""
    return _field(_PROC / "self/status", "VmRSS")


def peak_memory() -> int:
    """The most bytes that this process has held; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Not a Unix.
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_left(device: torch.device | None = None) -> int | None:
    """Bytes that this process may still take: of the machine, and of the limits of its cgroups, the least.

    Args:
        device: a GPU, for its own memory.

    Returns:
        None where nobody can say.
    """
    if device is not None and device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    of_machine = _field(_PROC / "meminfo", "MemAvailable")
    return min([*([of_machine] if of_machine else []), *_left_in_cgroups()], default=None)


def busy() -> str:
    """That others use this machine's processors, in words; empty: they have been idle."""
    load, n = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, os.cpu_count() or 1
    return f"{load:.1f} processes wanted this machine's {n} processors" if load > 1.25 * n else ""


def _field(path: Path, name: str) -> int:
    """A line like `VmRSS:  1234 kB` of the kernel's, in bytes; 0: there is none."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:")), 0)


def _left_in_cgroups() -> list[int]:
    """What is left by the limits of this process's cgroups and of those around them, of both versions."""
    try:
        lines = (_PROC / "self/cgroup").read_text().splitlines()
    except OSError:
        return []
    left = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        root = _CGROUPS / controllers
        names = ("memory.max", "memory.current", "inactive_file")
        if controllers:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        inner = root / path.lstrip("/")
        for folder in (inner, *(each for each in inner.parents if each.is_relative_to(root))):
            left += _left_in(folder, *names)
    return left


def _left_in(folder: Path, limit: str, usage: str, cache: str) -> list[int]:
    """Of one cgroup; what its files keep in the cache is given back when it is wanted."""
    try:
        most, used = int((folder / limit).read_text()), int((folder / usage).read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # There is none, or its limit is `max`.
        return []
    return [] if most >= _NO_LIMIT else [max(0, most - used + int(stat.get(cache, 0)))]
