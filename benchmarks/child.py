"""Inside the process of one measurement: `python -m benchmarks.child SPEC` prints its result as JSON.

All sides get the same: torch's threads, freed memory kept in the process, a limit of memory so that a
measurement that needs too much fails by itself, and torch's seed.
"""

from __future__ import annotations

import importlib
import json
import logging
import resource
import sys
import warnings
from typing import Any

import torch

from benchmarks.processes import memory_limit
from mohone.core.machine import peak_memory
from mohone.core.progress import want_progress
from mohone.core.runtime import keep_freed_memory

_MEASURES = {
    "ours_train": ("training", "train"),
    "ours_evaluate": ("evaluation", "evaluate"),
    "ours_evidence": ("evaluation", "evaluate_evidence"),
    "pykeen_train": ("in_pykeen", "train"),
    "pykeen_probe": ("in_pykeen", "probe"),
    "pykeen_evaluate": ("in_pykeen", "evaluate"),
    "floor_train": ("evaluation", "train_floor"),
    "floor_evaluate": ("evaluation", "evaluate_floor"),
    "lightning": ("training", "lightning_share"),
    "quality": ("training", "quality"),
    "network_embed": ("embeddings", "embed"),
    "network_peer": ("embeddings", "peer"),
    "network_kernel": ("embeddings", "kernel"),
    "network_roles": ("embeddings", "roles"),
    "network_growth": ("embeddings", "growth"),
}


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Do what `spec` says, in this process."""
    module, function = _MEASURES[spec["kind"]]
    run = getattr(importlib.import_module(f"benchmarks.{module}"), function)
    imported = peak_mb()
    result: dict[str, Any] = run(spec)
    threads = torch.get_num_threads()
    return {**result, "peak_mb": peak_mb(), "imported_mb": imported, "torch_threads": threads}


def peak_mb() -> float:
    """The most memory that this process held so far."""
    return peak_memory() / 1e6


def main() -> None:
    """Make this process one that measures; measure and print."""
    spec = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.ERROR)
    warnings.simplefilter("ignore")
    want_progress(False)
    limit = int(memory_limit())
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    keep_freed_memory()
    torch.set_num_threads(spec["threads"])
    torch.manual_seed(0)
    print(json.dumps(measure(spec)), flush=True)


if __name__ == "__main__":
    main()
