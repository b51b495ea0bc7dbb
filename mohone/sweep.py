"""What a sweep shows: its table, rebuilt from result files after each job, and its failures at the end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from mohone.files import write_text
from mohone.report import markdown_table
from mohone.results import read_results

TABLE = "table.md"
FAILURES: dict[str, str] = {}  # A sentence for each failed job's folder; the exit code depends on it.


def _sweep_folder(config: DictConfig) -> Path:
    """Its path from where the command was typed, wherever the process is now."""
    return Path(config.hydra.runtime.cwd) / str(config.hydra.sweep.dir)


class SweepTable(Callback):
    """Hydra's callback of a multirun; needs no state of the jobs, so they may run in other processes."""

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:  # noqa: ARG002
        """Write the table so far."""
        if config.hydra.mode == RunMode.MULTIRUN:
            sweep = _sweep_folder(config)
            write_text(sweep / TABLE, markdown_table([sweep]))

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Show the table and all failures."""
        sweep = _sweep_folder(config)
        print(f"\n{markdown_table([sweep])}\n{sweep / TABLE}")
        for path, result in read_results([sweep]):
            if result["status"] != "ok":
                last = result["error"].strip().split("\n")[-1]
                FAILURES.setdefault(str(path.parent.resolve()), last)
        for folder, sentence in FAILURES.items():
            print(f"failed: {folder}: {sentence}", file=sys.stderr)
