"""`python -m mohone.run`: compose a configuration, run its job or all jobs of a sweep, say what came out."""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.utils import get_original_cwd
from omegaconf import DictConfig, OmegaConf

from mohone.allocator import keep_freed_memory
from mohone.config import CONF, Plain, absolute_paths, check_keys, to_plain
from mohone.errors import MohoneError, require_bool
from mohone.results import RESULT, read_results, write_failed
from mohone.sweep import FAILURES

log = logging.getLogger(__name__)


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def _job(config: DictConfig) -> None:
    """Run one job; whatever happens, its folder holds a result when it ends.

    A failure does not raise, so that the jobs after it go on: it is logged, written, and counted for the
    exit code.
    """
    folder = Path(HydraConfig.get().runtime.output_dir)
    if _is_done(folder):
        _fail(folder, "The folder of a job must be a new one, but this holds a result already.")
        return
    plain: Plain = {}
    try:
        plain = absolute_paths(to_plain(config), Path(get_original_cwd()))
        check_keys(plain)
        if require_bool("allocator", plain["allocator"]):
            keep_freed_memory()
        # Torch and Lightning take seconds: help and typos should not.
        from mohone.pipeline import run_job
        from mohone.trainers import quiet_lightning

        quiet_lightning()
        run_job(plain, folder)
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        # Lightning ends a terminated process by SystemExit without a code, which would look like success.
        text = "".join(traceback.format_exception(error))
        if not isinstance(error, MohoneError):
            log.error("%s", text)
        write_failed(folder, plain or _unresolved(config), text)
        _fail(folder, str(error) if isinstance(error, MohoneError) else f"{type(error).__name__}: {error}")
        if not isinstance(error, Exception):
            raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 143) from None


def _is_done(folder: Path) -> bool:
    """Does it hold the result of a job that ended well? A failed one may be tried again."""
    path = folder / RESULT
    return path.exists() and any(r["status"] == "ok" for p, r in read_results([folder]) if p == path)


def _unresolved(config: DictConfig) -> Plain:
    plain = OmegaConf.to_container(config, resolve=False)
    return {str(key): value for key, value in plain.items()} if isinstance(plain, dict) else {}


def _fail(folder: Path, sentence: str) -> None:
    FAILURES[str(folder.resolve())] = sentence
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
    _job()
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
