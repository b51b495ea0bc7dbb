"""A job that has ended, opened again: its data set and its models, for commands that use them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torch import Tensor

from mohone.core.config import Plain
from mohone.core.errors import DataError
from mohone.core.runtime import prepare_process
from mohone.data import KnowledgeGraph
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.runner import Runner
from mohone.infusion import NetworkSpace
from mohone.kge import KGEModel
from mohone.reporting.results import read_finished


@dataclass(frozen=True)
class FinishedJob:
    """A job's data set and what its stages left; a stage that the store lacks is trained again.

    Attributes:
        result: as it was written.
        runner: of the job's stages.
    """

    result: Plain
    runner: Runner

    @property
    def kg(self) -> KnowledgeGraph:
        """The data set."""
        return self.runner.kg

    @property
    def is_infused(self) -> bool:
        """Had it an infusion, whatever validation chose?"""
        return "infusion" in self.result["stages"]

    @property
    def has_network(self) -> bool:
        """Had it a network embedding?"""
        return "netemb" in self.result["stages"]

    @cached_property
    def baseline(self) -> KGEModel:
        """The model before the infusion."""
        model: KGEModel = self.runner.read(self.runner.baseline)
        return model

    @cached_property
    def model(self) -> KGEModel:
        """What the job came to: the infused model, or the baseline where there was no infusion."""
        if not self.is_infused:
            return self.baseline
        model: KGEModel = self.runner.read(self.runner.infusion)
        return model

    @cached_property
    def space(self) -> NetworkSpace:
        """The network, and where its embedding puts the entities."""
        space: NetworkSpace = self.runner.read(self.runner.network)
        return space

    def why(self, side: str, query: tuple[int, int], answer: int) -> list[str]:
        """What spoke for an answer of `model`, in sentences; none where its infusion cannot say.

        Args:
            side: `tail` or `head`, what is asked for.
            query: the known entity and the relation.
            answer: an entity.
        """
        infusion = self.runner.plan.infusion
        if infusion is None or not self.is_infused:
            return []
        return infusion.why(self.model, self.kg, side, query, answer)

    @property
    def network_vectors(self) -> Tensor:
        """The network embedding: `(n_entities, dim)`."""
        return self.space.vectors


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
    return FinishedJob(result, runner)
