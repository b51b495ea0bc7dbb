"""A job that has ended, opened again: its data set and its models, for commands that use them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mohone.core.config import Plain
from mohone.core.errors import DataError
from mohone.core.runtime import prepare_process
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.runner import Runner
from mohone.experiment.trained import TrainedJob
from mohone.reporting.results import read_finished


@dataclass(frozen=True)
class FinishedJob(TrainedJob):
    """A job that has ended.

    Attributes:
        result: as it was written.
    """

    result: Plain

    @property
    def report(self) -> Plain:
        """As it was written: nothing is ranked again."""
        return self.result


def open_job(folder: Path) -> FinishedJob:
    """Open the job of a folder.

    Raises:
        DataError: the folder holds no job that ended well, or one of another data set or program.
    """
    result = read_finished(folder)
    config = result["config"]
    if not config["store_dir"]:
        raise DataError(f"{folder} must be a job's own folder, but is a copy that knows no `store_dir`.")
    prepare_process(config)
    plan = make_plan(config, folder)
    runner = Runner(plan, plan.dataset.load())
    runner.check()
    if runner.keys != {name: stage["key"] for name, stage in result["stages"].items()}:
        raise DataError(f"{folder} must be a job on the data as they are now, but they have changed since.")
    return FinishedJob(runner, result)
