"""`python -m mohone.run`: compose a configuration, run its job or all jobs of a sweep, say what came out."""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.utils import get_original_cwd
from omegaconf import DictConfig

from mohone.allocator import keep_freed_memory
from mohone.config import absolute_paths, to_plain
from mohone.errors import MohoneError
from mohone.results import RESULT, write_failed
from mohone.sweep import FAILURES

log = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_CONF = _HERE / "conf" if (_HERE / "conf").is_dir() else _HERE.parent / "conf"


@hydra.main(version_base="1.3", config_path=str(_CONF), config_name="config")
def _job(config: DictConfig) -> None:
    """Run one job; whatever happens, its folder holds a result when it ends.

    A failure does not raise, so that the jobs after it go on: it is logged, written, and counted for the
    exit code.
    """
    folder = Path(HydraConfig.get().runtime.output_dir)
    if (folder / RESULT).exists():
        _fail(folder, "The folder of a job must be a new one, but this holds a result already.")
        return
    try:
        plain = absolute_paths(to_plain(config), Path(get_original_cwd()))
    except MohoneError as error:
        _fail(folder, str(error))
        return
    if plain["allocator"]:
        keep_freed_memory()
    from mohone.pipeline import run_job  # Torch and Lightning take seconds: help and typos should not.
    from mohone.trainers import quiet_lightning

    quiet_lightning()
    try:
        run_job(plain, folder)
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        write_failed(folder, plain, text)
        if not isinstance(error, MohoneError):
            log.error("%s", text)
        _fail(folder, str(error) if isinstance(error, MohoneError) else f"{type(error).__name__}: {error}")


def _fail(folder: Path, sentence: str) -> None:
    FAILURES[str(folder.resolve())] = sentence
    log.error("%s", sentence)
    log.error("Failed: %s", folder)


def main() -> int:
    """The command line; the exit code is 1 if a job failed."""
    FAILURES.clear()
    _job()
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
