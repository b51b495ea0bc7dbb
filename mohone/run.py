"""`python -m mohone.run`: compose a configuration, run its job or all jobs of a sweep, say what came out."""

from __future__ import annotations

import io
import logging
import math
import os
import sys
import traceback
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from hydra.utils import get_original_cwd
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mohone.core.config import CHOICES, Plain
from mohone.core.errors import MohoneError
from mohone.core.files import locked
from mohone.experiment.configuration import absolute_paths, check_keys, to_plain
from mohone.experiment.hydra_errors import explain
from mohone.experiment.keys import full_keys
from mohone.experiment.recipes import CONF
from mohone.experiment.sweep import FAILURES, begin_job, fail_job
from mohone.reporting.results import has_result, write_failed

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
    with locked(folder / ".lock", lambda: log.info("waiting for another process, which runs this job")):
        begin_job(folder)
        return _run(config, folder)


def _run(config: DictConfig, folder: Path) -> float:
    plain: Plain = {}
    try:
        plain = to_plain(config, HydraConfig.get().runtime.choices)
        check_keys(plain)
        plain = absolute_paths(plain, Path(get_original_cwd()))
        # Torch and Lightning take seconds: help and typos should not.
        from mohone.experiment.job import run_job

        return float(run_job(plain, folder, _sweep())["valid_mrr"])
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        # Lightning ends a terminated process by SystemExit without a code, which would look like success.
        text = "".join(traceback.format_exception(error))
        if not isinstance(error, MohoneError):
            log.error("%s", text)
        if not has_result(folder):
            write_failed(folder, plain or _unresolved(config), text)
        _fail(folder, str(error) if isinstance(error, MohoneError) else f"{type(error).__name__}: {error}")
        if not isinstance(error, Exception):
            raise SystemExit(130 if _interrupted(error) else 143) from None
        return math.nan


def _interrupted(error: BaseException) -> bool:
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
    fail_job(folder, sentence)
    log.error("%s", sentence)
    log.error("Failed: %s", folder)


def main() -> int:
    """The command line; the exit code is 1 if a job failed."""
    FAILURES.clear()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # A plain locale cannot show every name.
    if "MOHONE_DATA" in os.environ:  # Relative to where the command is typed, wherever jobs run.
        os.environ["MOHONE_DATA"] = str(Path(os.environ["MOHONE_DATA"]).expanduser().absolute())
    sys.argv[1:] = full_keys(sys.argv[1:])
    if "HYDRA_FULL_ERROR" in os.environ:
        _job()
        return 1 if FAILURES else 0
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands its errors on, and they are told in our words.
    try:
        _job()
    except (HydraException, OmegaConfBaseException) as error:
        print(explain(error), file=sys.stderr)
        return 1
    finally:
        del os.environ["HYDRA_FULL_ERROR"]
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
