"""`python -m mohone.run`: compose a configuration, run its job or all jobs of a sweep, say what came out."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import shlex
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from hydra.utils import get_original_cwd
from omegaconf import DictConfig, OmegaConf

from mohone.configuration.compose import (
    absolute_paths,
    as_trained,
    check_choices,
    check_keys,
    chosen_by,
    to_plain,
)
from mohone.configuration.faulty_files import is_fault
from mohone.configuration.hydra_errors import explain
from mohone.configuration.recipes import CONF
from mohone.configuration.short_keys import full_keys
from mohone.core.command_line import Parser
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import (
    ConfigError,
    DataError,
    GivenUpError,
    MohoneError,
    chain,
    told_by_system,
    without_memory,
)
from mohone.core.files import full_disk, locked
from mohone.core.terminal import prepare_terminal
from mohone.experiment.team import is_launched, is_member
from mohone.reporting.results import has_result, write_failed
from mohone.sweeps.launchers import lost_job
from mohone.sweeps.sweep import FAILURES, begin_job, fail_job, show_ended

_MULTIRUN = {"-m", "--multirun"}
log = logging.getLogger(__name__)


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def _job(config: DictConfig) -> float:
    """Run one job; whatever happens, its folder holds a result when it ends.

    A failure does not raise, so that the jobs after it go on: it is logged, written, and counted for the
    exit code.

    Returns:
        the validation MRR of the job's last model, for sweepers that optimise; NaN if it failed.
    """
    folder = Path(HydraConfig.get().runtime.output_dir)
    if is_member():
        return _help(config, folder)
    try:
        with locked(folder / ".lock", lambda: log.info("waiting for another process, which runs this job")):
            begin_job(folder)
            return _run(config, folder)
    except (DataError, OSError) as error:  # There are no locks, or no file can be written.
        _fail(folder, (isinstance(error, OSError) and told_by_system(error)) or str(error))
        return math.nan


def _help(config: DictConfig, folder: Path) -> float:
    """Train with the process that runs the job, and leave no file."""
    from mohone.experiment.job import help_job

    help_job(_as_taken(to_plain(config, chosen_by(HydraConfig.get()))), folder)
    return math.nan


def _as_taken(plain: Plain) -> Plain:
    """The configuration as a job takes it."""
    check_keys(plain)
    return as_trained(absolute_paths(plain, Path(get_original_cwd())), say=not is_member())


def _run(config: DictConfig, folder: Path) -> float:
    plain: Plain = {}
    log_file = folder / f"{HydraConfig.get().job.name}.log"
    length = log_file.stat().st_size if log_file.exists() else 0
    try:
        plain = to_plain(config, chosen_by(HydraConfig.get()))
        plain = _as_taken(plain)
        # Torch and Lightning take seconds: help and typos should not.
        from mohone.experiment.job import run_job

        return float(run_job(plain, folder, _sweep())["valid_mrr"])
    except (KeyboardInterrupt, SystemExit) as error:  # Of Ctrl-C, too, Lightning makes a SystemExit.
        _keep_failure(folder, plain or _unresolved(config), "It was interrupted.", "interrupted")
        fail_job(folder, "It was interrupted.")
        # A code of its own tells a cluster to put the job into its queue again.
        told = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 143
        raise Interruption(130 if _is_ctrl_c(error) else told) from None
    except GivenUpError as error:  # As it was asked to be: no failure.
        reached = {"epoch": error.epoch, "valid_mrr": error.valid_mrr}
        _keep_failure(folder, plain, str(error), "stopped", reached=reached)
        log.info("%s", error)
        return error.valid_mrr
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        sentence = _sentence(error, folder, plain)
        if sentence is None:
            log.error("%s", text)
        is_refused = not _keep_failure(folder, plain or _unresolved(config), text, "failed")
        _fail(folder, sentence or f"{type(error).__name__}: {error}")
        if is_refused and log_file.exists():  # The log of the job that the folder is of stays as it was.
            os.truncate(log_file, length)
        return math.nan


def _sentence(error: Exception, folder: Path, config: Plain) -> str | None:
    """What a user can mend; None: a fault of the program, which wants its traceback."""
    if isinstance(error, MohoneError):
        return str(error)
    if full := full_disk(error, (Path(str(config.get("store_dir", folder))), folder)):
        return f"There must be room on the disk of {full}, but it is full: then the same command goes on."
    return told_by_system(error) if isinstance(error, OSError) else without_memory(error)


def _keep_failure(folder: Path, config: Plain, text: str, status: str, **more: Any) -> bool:
    """Write the result of a job that did not come to its end, if the disk has room for it.

    Returns:
        False: the folder holds that of a job that ended well, which stays.
    """
    if has_result(folder):
        return False
    with contextlib.suppress(OSError):
        write_failed(folder, config, text, status, **more)
    return True


class Interruption(SystemExit):
    """A job was interrupted: by Ctrl-C (130), or told to end (143)."""


def _is_ctrl_c(error: BaseException) -> bool:
    """Is it Ctrl-C, or the SystemExit that Lightning makes of it?"""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt)


def _sweep() -> str | None:
    """The sweep's name, if the job is one of a sweep: the end of its folder's path."""
    hydra_config = HydraConfig.get()
    if hydra_config.mode != RunMode.MULTIRUN:
        return None
    return "/".join(Path(str(hydra_config.sweep.dir)).parts[-2:])


def _unresolved(config: DictConfig) -> Plain:
    plain = OmegaConf.to_container(config, resolve=False)
    named = {CHOICES: dict(HydraConfig.get().runtime.choices)}
    return {**{str(key): value for key, value in plain.items()}, **named} if isinstance(plain, dict) else {}


def _fail(folder: Path, sentence: str) -> None:
    with contextlib.suppress(OSError):
        fail_job(folder, sentence)
    log.error("%s", sentence)
    log.error("Failed: %s", folder)


def main() -> int:
    """The command line; the exit code is 1 if a job failed."""
    prepare_terminal()
    _options().parse_known_args()
    typed, told_by_hydra = sys.argv[1:], "HYDRA_FULL_ERROR" in os.environ
    if is_launched():
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # Of hints that are none for us.
    with _surroundings():
        try:
            check_choices(typed)
            sys.argv[1:] = [*full_keys(_flags_last(typed)), *_as_member(typed)]
            _job()
        except (KeyboardInterrupt, Interruption) as error:
            print(f"Interrupted. The same command goes on: {shlex.join(['mohone', *typed])}", file=sys.stderr)
            show_ended()
            return error.code if isinstance(error, Interruption) and isinstance(error.code, int) else 130
        except Exception as error:
            lost = lost_job(error)
            said = f"{lost} The same command goes on: {shlex.join(['mohone', *typed])}" if lost else None
            said = said or (None if told_by_hydra else _told(error, _sweeps(typed)))
            if said is None:
                raise
            print(said, file=sys.stderr)
            if lost:
                show_ended()
            return 1
    return 1 if FAILURES else 0


def _flags_last(typed: list[str]) -> list[str]:
    """The same with `-m` at the end: between settings Hydra does not understand it.

    >>> _flags_last(["a=1", "-m", "b=1,2"])
    ['a=1', 'b=1,2', '-m']
    """
    flags = [each for each in typed if each in _MULTIRUN]
    return [*(each for each in typed if each not in _MULTIRUN), *flags[:1]]


def _told(error: Exception, sweeps: bool) -> str | None:
    """What is wrong with what was typed, with a user's files or with the folder; None: with the program."""
    if isinstance(error, MohoneError):
        return str(error)
    causes = [each for each in chain(error) if isinstance(each, OSError)]
    if isinstance(error, OSError | ValueError) and causes:  # The second of a log, and of the first.
        said = next(filter(None, map(told_by_system, causes)), None)
        if said is not None:
            return said
    return explain(error, sweeps) if is_fault(error) else None


def _options() -> Parser:
    """Those of Hydra's options that take a value, to be given once, and the version, which is ours."""
    options = Parser(prog="mohone.run", completes=False, add_help=False, allow_abbrev=False)
    for short, long in (("c", "cfg"), ("cp", "config-path"), ("cn", "config-name"), ("cd", "config-dir")):
        options.add_argument(f"-{short}", f"--{long}")
    return options


def _as_member(typed: list[str]) -> list[str]:
    """What is told to Hydra in a process that helps another one: it writes no folder and no log.

    Raises:
        ConfigError: processes that torchrun has started are to run several jobs.
    """
    if is_launched() and _sweeps(typed):
        raise ConfigError("A sweep must be run without torchrun, whose processes run one job, but is not.")
    return ["hydra.run.dir=.", "hydra/job_logging=none", "hydra/hydra_logging=none"] if is_member() else []


def _sweeps(typed: list[str]) -> bool:
    """May a key have several values?"""
    return not _MULTIRUN.isdisjoint(typed)


@contextlib.contextmanager
def _surroundings() -> Iterator[None]:
    """What holds for all of a command, and is put back at its end."""
    FAILURES.clear()
    if "MOHONE_DATA" in os.environ:  # Relative to where the command is typed, wherever jobs run.
        os.environ["MOHONE_DATA"] = str(Path(os.environ["MOHONE_DATA"]).expanduser().absolute())
    given = os.environ.get("HYDRA_FULL_ERROR")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands its errors on, and they are told in our words.
    told, logging.raiseExceptions = logging.raiseExceptions, False  # A log on a full disk ends no job.
    handler = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        logging.raiseExceptions = told
        if given is None:
            del os.environ["HYDRA_FULL_ERROR"]


def _terminate(number: int, _: FrameType | None) -> None:
    raise Interruption(128 + number)


if __name__ == "__main__":
    sys.exit(main())
