"""What a sweep shows: how far it is, its table, rebuilt from files after each job, and its failures."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict, read_write

from mohone.configuration.faulty_files import is_fault
from mohone.configuration.hydra_errors import explain
from mohone.configuration.overrides import override
from mohone.core.config import Plain
from mohone.core.errors import ConfigError, DataError, MohoneError
from mohone.core.files import write_text
from mohone.reporting.jobs import jobs_table
from mohone.reporting.results import read_results
from mohone.sweeps.foresight import check_run, check_sweep, choices_of, sweeps_all
from mohone.sweeps.launchers import require_launcher

TABLE = "table.md"
# In a job's folder, since jobs may run in other processes, and several sweeps in one folder: the sweep that
# began it last, and in a second line why it failed, if it did. `result.json` cannot say this: a job that an
# earlier sweep ended is skipped, one in the folder of another is refused, and both leave the result alone.
MARK = ".sweep"
RUNNING: list[Path] = []  # The folder of the sweep that this process runs, if it does.
FAILURES: dict[str, str] = {}  # A sentence for each failed job's folder; the exit code depends on it.
# In the environment of its jobs, on whatever machine: how many jobs, when it began and its process.
_SWEEP = "MOHONE_SWEEP"
_CARRIED = (_SWEEP, "MOHONE_DATA")


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


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Say in a sentence what cannot be, and end; Hydra makes a warning of a callback's other exceptions."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, MohoneError) and not is_fault(error):
            raise
        print(error if isinstance(error, MohoneError) else explain(error), file=sys.stderr)
        raise SystemExit(1) from None


class SweepTable(Callback):
    """Hydra's callback of a run; needs no state of a sweep's jobs, so they may run in other processes."""

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Refuse a job that cannot be, before it has a folder."""
        with _refusing():
            check_run(config)

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Refuse a sweep of which a job cannot be; else note how many jobs it has and when it began."""
        with _refusing(), contextlib.suppress(DataError):  # The job says it, and the others are run.
            require_launcher(config)
            check_table(_sweep_folder(config))
            check_sweep(config)
        RUNNING.append(_sweep_folder(config))
        os.environ[_SWEEP] = f"{count_jobs(config)} {time.time()} {os.getpid()}"
        _carry(config)

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:  # noqa: ARG002
        """Write the table so far, and say how far the sweep is."""
        if config.hydra.mode == RunMode.MULTIRUN:
            results = write_table(_sweep_folder(config))
            print(progress_line(results, config.hydra.job.env_set[_SWEEP], time.time()), flush=True)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Show the table, and what failed in this sweep."""
        sweep = _sweep_folder(config)
        RUNNING.clear()
        write_table(sweep)  # Of jobs that ended at once, on several machines, each wrote what it saw.
        show_table(sweep)
        for path in sorted(sweep.rglob(MARK)):
            if sentence := _mark(path.parent, os.environ[_SWEEP]):
                FAILURES[str(path.parent.resolve())] = sentence
        for folder, sentence in FAILURES.items():
            print(f"failed: {folder}: {sentence}", file=sys.stderr)


def _carry(config: DictConfig) -> None:
    """Let the jobs know, on whatever machine, which sweep they are of and where it began.

    A launcher composes a job's configuration from these overrides, here or there; not all of them hand on the
    environment, and a relative path would start where their worker does.
    """
    environment = {name: os.environ[name] for name in _CARRIED if name in os.environ}
    overrides = [override("hydra.sweep.dir", _sweep_folder(config))]
    overrides += [override(f"++hydra.job.env_set.{name}", value) for name, value in environment.items()]
    with read_write(config.hydra), open_dict(config.hydra):
        config.hydra.overrides.hydra.extend(overrides)


def check_table(sweep: Path) -> None:
    """Refuse a folder where the table of a sweep is to be written.

    Raises:
        ConfigError: there is one.
    """
    if (sweep / TABLE).is_dir():
        raise ConfigError(f"{sweep / TABLE} must be the table of a sweep, but is a folder.")


def write_table(sweep: Path) -> list[tuple[Path, Plain]]:
    """Write the table of the jobs that have ended, and return their results."""
    results = read_results([sweep])
    write_text(sweep / TABLE, jobs_table(results))
    return results


def show_table(sweep: Path) -> None:
    """Print the table of the jobs that have ended, of all that a sweep's folder holds."""
    print(f"\n{jobs_table(read_results([sweep]))}\n{sweep / TABLE}", flush=True)


def show_ended() -> None:
    """Print the table of a sweep that was interrupted."""
    for sweep in RUNNING:
        show_table(sweep)
    RUNNING.clear()


def count_jobs(config: DictConfig) -> int:
    """How many jobs a multirun has: the product of its choices, each key's last word counting.

    0: only the sweeper knows, which is not Hydra's usual one and chooses as it goes.
    """
    return math.prod(len(values) for values in choices_of(config)) if sweeps_all(config) else 0


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
    line = f"sweep: {ended} of {n_jobs or '?'} {'job' if n_jobs == 1 else 'jobs'} ended"
    if failed:
        line += f", {failed} of them failed"
    if worked and n_jobs > ended:
        line += f", about {_duration((now - start) / worked * (n_jobs - ended))} left"
    return line


def _mark(folder: Path, sweep: str) -> str | None:
    """Why a folder's job failed, empty where it did not; None where another sweep began it last, or none."""
    try:
        text = (folder / MARK).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
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
