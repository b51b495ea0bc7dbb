"""Measurements one after the other, each in a process of its own, whatever becomes of it; and the machine."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.text import Record, name_of, number
from mohone.core.files import write_json

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("torch", "pytorch-lightning", "pykeen", "numpy", "mohone")
_NAMES = ("name", "kind", "model", "objective")
_SAID = ("epoch_seconds", "evaluate_seconds", "lightning_percent", "batch_size", "seconds", "roles")
_ERROR = re.compile(r"^[\w.]*(Error|Exception|Interrupt|Exit)\b")


def measure_all(specs: Iterable[dict[str, Any]], report: Record, path: Path) -> None:
    """Measure, and put a record after the other into the report, which is written each time."""
    for spec in specs:
        print(f"{name_of(spec)}: ", end="", flush=True)
        record = run_measurement(spec)
        print(_said(record), flush=True)
        report["measurements"].append(record)
        write_json(path, report)


def _said(record: Record) -> str:
    """The reason of a failure, or the first figure that tells most."""
    if "failed" in record:
        return f"failed: {record['failed']}"
    figures = (f"{key} {number(record['result'][key])}" for key in _SAID if key in record["result"])
    return next(figures, "done")


def run_measurement(spec: dict[str, Any]) -> Record:
    """The record of a measurement: its names, and `result`, or `failed` with the reason.

    Args:
        spec: `kind` and what its measure asks for; `threads`, `time_limit` (seconds, the start included).
    """
    start = time.perf_counter()
    names = {key: spec[key] for key in _NAMES if key in spec}
    with tempfile.TemporaryDirectory() as folder:
        record = {**names, "load_before": os.getloadavg()[0], **_run(spec, folder)}
    return {**record, "process_seconds": time.perf_counter() - start}


def _run(spec: dict[str, Any], folder: str) -> Record:
    threads = str(spec["threads"])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH")))),
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "PYKEEN_HOME": folder,  # It makes folders where it is imported.
    }
    command = [sys.executable, "-m", "benchmarks.child", json.dumps(spec)]
    try:
        ran = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=spec["time_limit"],
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {spec['time_limit']:g} s"}
    return outcome(ran.returncode, ran.stdout, ran.stderr)


def outcome(code: int, stdout: str, stderr: str) -> Record:
    """`result`, or `failed`, by what a child left."""
    if code < 0:
        return {"failed": f"killed by {signal.Signals(-code).name}"}
    if code == 0:
        return {"result": json.loads(stdout.splitlines()[-1])}
    errors = stderr.strip().splitlines() or [f"exit code {code}"]
    named = [line for line in errors if _ERROR.match(line)]
    return {"failed": (named or errors)[-1][:300]}


def machine(threads: int) -> dict[str, Any]:
    """Processor, cores, threads, versions and date."""
    return {
        "cpu": _cpu(),
        "cores": usable_cores(),
        "memory_gb": round(_memory() / 1e9, 1),
        "memory_limit_gb": round(memory_limit() / 1e9, 1),
        "torch_threads": threads,
        "python": platform.python_version(),
        "system": platform.platform(),
        "versions": {name: package_version(name) for name in _PACKAGES},
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_limit() -> float:
    """Bytes that a measurement may hold: most of the machine's."""
    return 0.85 * _memory()


def package_version(name: str) -> str | None:
    """The installed version; None: not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _memory() -> float:
    return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.processor() or platform.machine()
