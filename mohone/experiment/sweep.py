"""What a sweep shows: how far it is, its table, rebuilt from files after each job, and its failures."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeperConf
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from mohone.core.config import Plain
from mohone.core.files import write_text
from mohone.reporting.jobs import jobs_table
from mohone.reporting.results import read_results

TABLE = "table.md"
# In a job's folder, since jobs may run in other processes, and several sweeps in one folder: the sweep that
# began it last, and in a second line why it failed, if it did. `result.json` cannot say this: a job that an
# earlier sweep ended is skipped, one in the folder of another is refused, and both leave the result alone.
MARK = ".sweep"
FAILURES: dict[str, str] = {}  # A sentence for each failed job's folder; the exit code depends on it.
# In the environment, for the workers of a parallel launcher: how many jobs, when it began and its process.
_SWEEP = "MOHONE_SWEEP"
_USUAL_SWEEPER = BasicSweeperConf._target_


def _sweep_folder(config: DictConfig) -> Path:
    """Its path from where the command was typed, wherever the process is now."""
    return Path(config.hydra.runtime.cwd) / str(config.hydra.sweep.dir)


def begin_job(folder: Path) -> None:
    """Note that a job begins, in which sweep if it is of one."""
    if sweep := os.environ.get(_SWEEP):
        write_text(folder / MARK, sweep)


def fail_job(folder: Path, sentence: str) -> None:
    """Note that a job failed."""
    FAILURES[str(folder.resolve())] = sentence
    if sweep := os.environ.get(_SWEEP):
        write_text(folder / MARK, f"{sweep}\n{sentence}")


class SweepTable(Callback):
    """Hydra's callback of a multirun; needs no state of the jobs, so they may run in other processes."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Note how many jobs the sweep has and when it began."""
        os.environ[_SWEEP] = f"{count_jobs(config)} {time.time()} {os.getpid()}"

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:  # noqa: ARG002
        """Write the table so far, and say how far the sweep is."""
        if config.hydra.mode == RunMode.MULTIRUN:
            sweep = _sweep_folder(config)
            results = read_results([sweep])
            write_text(sweep / TABLE, jobs_table(results))
            print(progress_line(results, os.environ[_SWEEP], time.time()), flush=True)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Show the table, and what failed in this sweep."""
        sweep = _sweep_folder(config)
        print(f"\n{jobs_table(read_results([sweep]))}\n{sweep / TABLE}")
        for path in sorted(sweep.rglob(MARK)):
            if sentence := _mark(path.parent, os.environ[_SWEEP]):
                FAILURES[str(path.parent.resolve())] = sentence
        for folder, sentence in FAILURES.items():
            print(f"failed: {folder}: {sentence}", file=sys.stderr)


def count_jobs(config: DictConfig) -> int:
    """How many jobs a multirun has: the product of its choices, each key's last word counting.

    0: only the sweeper knows, which is not Hydra's usual one and chooses as it goes.
    """
    if config.hydra.sweeper.get("_target_", _USUAL_SWEEPER) != _USUAL_SWEEPER:
        return 0
    params = [f"{key}={value}" for key, value in (config.hydra.sweeper.get("params") or {}).items()]
    overrides = OverridesParser.create().parse_overrides([*params, *config.hydra.overrides.task])
    choices = {
        each.get_key_element(): len(list(each.sweep_string_iterator())) if each.is_sweep_override() else 1
        for each in overrides
    }
    return math.prod(choices.values())


def progress_line(results: list[tuple[Path, Plain]], sweep: str, now: float) -> str:
    """How many jobs of a sweep have ended, and how long the others will take at this pace.

    Jobs that were skipped, since an earlier sweep had ended them, count as ended and not for the pace.

    Args:
        results: of the sweep's folder, where others may have theirs.
        sweep: its number of jobs (0: nobody knows), when it began and its process.
        now: the time.
    """
    n_jobs, start = int(sweep.split()[0]), float(sweep.split()[1])
    ended = worked = failed = 0
    for path, result in results:
        mark = _mark(path.parent, sweep)
        if mark is not None:
            works = path.stat().st_mtime >= start
            worked += works
            ended += works or result["status"] == "ok"
            failed += mark != ""
    line = f"sweep: {ended} of {n_jobs or '?'} jobs ended"
    if failed:
        line += f", {failed} of them failed"
    if worked and n_jobs > ended:
        line += f", about {_duration((now - start) / worked * (n_jobs - ended))} left"
    return line


def _mark(folder: Path, sweep: str) -> str | None:
    """Why a folder's job failed, empty where it did not; None where another sweep began it last, or none."""
    try:
        text = (folder / MARK).read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    begun_by, _, sentence = text.partition("\n")
    return sentence if begun_by == sweep else None


def _duration(seconds: float) -> str:
    """In words, rounded up.

    >>> _duration(61), _duration(3600)
    ('2 min', '1 h 0 min')
    """
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
