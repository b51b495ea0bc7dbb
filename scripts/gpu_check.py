"""Collect the results of `gpu_check.sh` in one JSON file: what ran where, how long it took, what came out."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

import torch

from mohone.core.files import write_json
from mohone.reporting.results import read_results

FIGURES = ("mrr", "hits@1", "hits@3", "hits@10")


def machine() -> dict[str, Any]:
    """The card, or the processor where there is none."""
    cuda = torch.cuda.is_available()
    return {
        "device": torch.cuda.get_device_name(0) if cuda else platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def summary(result: dict[str, Any]) -> dict[str, Any]:
    """The figures of one job; of a failed one its error."""
    out: dict[str, Any] = {
        "dataset": result["dataset"]["name"],
        "kge_model": result["kge_model"],
        "status": result["status"],
    }
    if result["status"] != "ok":
        return out | {"error": result["error"]}
    baseline = result["baseline"]
    return out | {
        "seconds": {key: round(value, 2) for key, value in result["seconds"].items()},
        "precision": result["config"]["trainer"]["precision"],
        **{
            setting: {name: round(baseline[setting][name], 4) for name in FIGURES}
            for setting in ("filtered", "typed", "typed_train")
        },
    }


def main() -> int:
    """Write `OUT/gpu.json`; 1 if a job failed."""
    out = Path(sys.argv[1])
    jobs = [summary(result) for _, result in read_results([out / "sweep"])]
    total = sum(sum(job["seconds"].values()) for job in jobs if job["status"] == "ok")
    write_json(out / "gpu.json", {"machine": machine(), "seconds": round(total, 1), "jobs": jobs})
    sys.stdout.write(f"{len(jobs)} jobs, {total:.0f} s: {out / 'gpu.json'}\n")
    return int(any(job["status"] != "ok" for job in jobs))


if __name__ == "__main__":
    sys.exit(main())
