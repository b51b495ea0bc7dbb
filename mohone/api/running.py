"""Running the stages of a job from Python, leaving what is not ours as it was."""

from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path

from mohone.core.config import Plain
from mohone.core.errors import ConfigError
from mohone.core.runtime import prepare_process
from mohone.data import KnowledgeGraph
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.base import Stage
from mohone.experiment.stages.runner import Runner

_ONE_AT_A_TIME = threading.RLock()  # Threads share torch's random numbers.


def runner_of(kg: KnowledgeGraph, config: Plain, folder: Path | None = None) -> Runner:
    """The stages of a job, checked; nothing is trained.

    Args:
        kg: its data set, which is not read again.
        config: plain, with absolute paths.
        folder: of the job, if it has one.

    Raises:
        ConfigError: what cannot be.
    """
    from pytorch_lightning.utilities.seed import isolate_rng

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ConfigError(
            'A script that trains in several processes must do so below `if __name__ == "__main__":`, but '
            "this one does so where each of them imports it."
        )
    prepare_process(config)
    with _ONE_AT_A_TIME, isolate_rng():
        runner = Runner(make_plan(config, folder or Path(config["store_dir"]), kg), kg)
        runner.check()
    return runner


def train(runner: Runner, stage: Stage) -> None:
    """Train a stage, if the store lacks it, and those it builds on; the caller's random numbers stay his.

    Raises:
        KeyboardInterrupt: of Ctrl-C or a notebook's stop button, of which Lightning makes a SystemExit.
    """
    from pytorch_lightning.utilities.seed import isolate_rng

    try:
        with _ONE_AT_A_TIME, isolate_rng():
            runner.run(stage)
    except SystemExit as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
