"""A job that has ended, opened again: its data set and its models, for commands that use them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torch import Tensor

from mohone.core.config import Plain, build
from mohone.core.errors import DataError
from mohone.core.runtime import prepare_process
from mohone.data import KnowledgeGraph
from mohone.experiment.stages import Stage, Stages
from mohone.experiment.trainers import TrainerFactory
from mohone.kge import KGEModel
from mohone.reporting.results import read_finished


@dataclass(frozen=True)
class FinishedJob:
    """A job's data set and what its stages left; a stage that the store lacks is trained again.

    Attributes:
        result: as it was written.
        kg: the data set.
        stages: of the job.
    """

    result: Plain
    kg: KnowledgeGraph
    stages: Stages

    @property
    def is_infused(self) -> bool:
        """Had it an infusion, whatever validation chose?"""
        return "infusion" in self.result["stages"]

    @cached_property
    def baseline(self) -> KGEModel:
        """The model before the infusion."""
        return self.stages.read_model(self._baseline)

    @cached_property
    def model(self) -> KGEModel:
        """What the job came to: the infused model, or the baseline where there was no infusion."""
        if not self.is_infused:
            return self.baseline
        return self.stages.read_model(self.stages.infusion(self._netemb, self._baseline))

    @property
    def network_vectors(self) -> Tensor:
        """The network embedding: `(n_entities, dim)`."""
        return self.stages.read_vectors(self._netemb)

    @property
    def network_neighbors(self) -> Tensor:
        """Each entity's nearest in network space, nearest first, -1: none; `(n_entities, k)`."""
        return self.stages.neighbors(self._netemb).rows

    @cached_property
    def _netemb(self) -> Stage:
        return self.stages.netemb()

    @cached_property
    def _baseline(self) -> Stage:
        return self.stages.baseline()


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
    kg: KnowledgeGraph = build("dataset", config["dataset"]).load()
    stages = Stages(config, kg, TrainerFactory(config["trainer"], folder))
    if stages.keys != {name: stage["key"] for name, stage in result["stages"].items()}:
        raise DataError(f"{folder} must be a job on the data as they are now, but they have changed since.")
    return FinishedJob(result, kg, stages)
