"""Commands as a user types them, in new processes, and what they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TINY = [
    "dim=4",
    "training.max_epochs=2",
    "training.validate_every=1",
    "netemb.min_steps=5",
    "netemb.min_epochs=1",
    "infusion.neighbors=[1,2]",
    "infusion.beta=[0,0.2]",
    "infusion.retrain_epochs=1",
]


def mohone(
    folder: Path, *arguments: str, module: str = "mohone.run", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def results(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.rglob("result.json"), key=lambda p: p.stat().st_mtime_ns)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def without_times(result: dict[str, Any]) -> dict[str, Any]:
    return {k: result[k] for k in ("baseline", "infused", "significance", "selection")}
