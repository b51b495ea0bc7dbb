"""`python -m mohone.run`: compose a configuration, run its job or all jobs of a sweep, say what came out."""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.utils import get_original_cwd
from omegaconf import DictConfig

from mohone.allocator import keep_freed_memory
from mohone.config import absolute_paths, to_plain
from mohone.errors import MohoneError
from mohone.files import write_text
from mohone.report import markdown_table
from mohone.results import RESULT, read_results, write_failed

log = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_CONF = _HERE / "conf" if (_HERE / "conf").is_dir() else _HERE.parent / "conf"
TABLE = "table.md"

_failed_jobs: list[str] = []


@hydra.main(version_base="1.3", config_path=str(_CONF), config_name="config")
def _job(config: DictConfig) -> None:
    """Run one job; whatever happens, its folder holds a result when it ends.

    A failure does not raise, so that the jobs after it go on: it is logged, written, and counted for the
    exit code.
    """
    folder = Path(HydraConfig.get().runtime.output_dir)
    plain = absolute_paths(to_plain(config), Path(get_original_cwd()))
    if (folder / RESULT).exists():
        _failed_jobs.append(f"{folder} must be a new folder, but holds a result already.")
        log.error("%s", _failed_jobs[-1])
        return
    if plain["allocator"]:
        keep_freed_memory()
    from mohone.pipeline import (
        run_job,
    )  # Torch and Lightning take seconds: help and typos should not.
    from mohone.trainers import quiet_lightning

    quiet_lightning()
    try:
        run_job(plain, folder)
    except Exception as error:
        _report_failure(folder, plain, error)


def _report_failure(folder: Path, config: dict[str, Any], error: Exception) -> None:
    text = "".join(traceback.format_exception(error))
    write_failed(folder, config, text)
    sentence = str(error) if isinstance(error, MohoneError) else f"{type(error).__name__}: {error}"
    _failed_jobs.append(sentence)
    if isinstance(error, MohoneError):
        log.error("%s", sentence)
        log.debug("%s", text)
    else:
        log.error("%s", text)
    log.error("Failed; the traceback is in %s.", folder / RESULT)


class SweepTable(Callback):
    """Rebuilds the sweep's table from its result files after each job, and lists failures at the end."""

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:  # noqa: ARG002
        """Write the table so far, in a sweep."""
        if config.hydra.mode == hydra.types.RunMode.MULTIRUN:
            sweep = Path(config.hydra.sweep.dir)
            write_text(sweep / TABLE, markdown_table([sweep]))

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Show the table and the failures of all jobs, whichever process ran them."""
        sweep = Path(config.hydra.sweep.dir)
        print(f"\n{markdown_table([sweep])}\n{sweep / TABLE}")
        _failed_jobs.clear()
        for path, result in read_results([sweep]):
            if result["status"] != "ok":
                last = result["error"].strip().split("\n")[-1]
                _failed_jobs.append(f"{path.parent}: {last}")
        for failure in _failed_jobs:
            print(f"failed: {failure}", file=sys.stderr)


def main() -> int:
    """The command line; the exit code is 1 if a job failed."""
    _failed_jobs.clear()
    _job()
    return 1 if _failed_jobs else 0


if __name__ == "__main__":
    sys.exit(main())
