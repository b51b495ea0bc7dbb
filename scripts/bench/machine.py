"""Where and with what was measured."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("torch", "pytorch-lightning", "pykeen", "numpy", "mohone")


def describe(threads: int) -> dict[str, Any]:
    """Processor, cores, threads, versions and date."""
    return {
        "cpu": cpu_model(_read("/proc/cpuinfo")) or platform.processor() or platform.machine(),
        "cores": usable_cores(),
        "memory_gb": round(physical_memory() / 1e9, 1),
        "torch_threads": threads,
        "python": platform.python_version(),
        "system": platform.platform(),
        "versions": {name: package_version(name) for name in _PACKAGES},
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def cpu_model(cpuinfo: str) -> str:
    """The processor's name in the text of `/proc/cpuinfo`; empty where there is none."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return ""


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def physical_memory() -> float:
    """Bytes of the machine."""
    return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")


def package_version(name: str) -> str | None:
    """The installed version; None: not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
