"""One measurement in a process of its own, whatever becomes of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_SCRIPTS = Path(__file__).resolve().parents[1]
_ERROR = re.compile(r"^[\w.]*(Error|Exception|Interrupt|Exit)\b")


def run_measurement(spec: dict[str, Any], time_limit: float) -> dict[str, Any]:
    """The record of a measurement: what `spec` says, and `result`, or `failed` with the reason."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        record = {**_named(spec), "load_before": os.getloadavg()[0], **_run(spec, time_limit, folder)}
    return {**record, "process_seconds": time.perf_counter() - start}


def _named(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: spec[key] for key in ("kind", "model", "objective") if key in spec}


def _run(spec: dict[str, Any], time_limit: float, folder: str) -> dict[str, Any]:
    path = os.pathsep.join(filter(None, (str(_SCRIPTS), str(_SCRIPTS.parent), os.environ.get("PYTHONPATH"))))
    threads = str(spec["threads"])
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "PYKEEN_HOME": folder,  # It makes folders where it is imported.
    }
    command = [sys.executable, "-m", "bench.child", json.dumps(spec)]
    try:
        ran = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {time_limit:g} s"}
    return outcome(ran.returncode, ran.stdout, ran.stderr)


def outcome(code: int, stdout: str, stderr: str) -> dict[str, Any]:
    """`result`, or `failed`, by what a child left."""
    if code < 0:
        return {"failed": f"killed by {signal.Signals(-code).name}"}
    lines = stdout.strip().splitlines()
    if code == 0 and lines:
        try:
            return {"result": json.loads(lines[-1])}
        except ValueError:
            return {"failed": f"printed no JSON: {lines[-1][:200]}"}
    errors = stderr.strip().splitlines() or [f"exit code {code}"]
    named = [line for line in errors if _ERROR.match(line)]
    return {"failed": (named or errors)[-1][:300]}
