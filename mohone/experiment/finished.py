"""A job that has ended, opened again: its data set and its models, for commands that use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from torch import Tensor

from mohone.core.config import Plain
from mohone.core.errors import DataError
from mohone.core.runtime import prepare_process
from mohone.data import KnowledgeGraph
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.runner import Runner
from mohone.experiment.store import StageStore
from mohone.infusion import NetworkSpace
from mohone.kge import KGEModel
from mohone.reporting.results import read_finished


@dataclass(frozen=True)
class FinishedJob:
    """A job's data set and what its stages left; a stage that the store lacks is trained again, if it may be.

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


class KeptStages(StageStore):
    """The stages that are in the store, which it adds none to."""

    def get(self, stage: str, key: str, build: Callable[[Path], None]) -> tuple[Path, bool]:  # noqa: ARG002
        """The folder of a stage.

        Raises:
            DataError: it is not there.
        """
        place = self.root / stage / key
        if not place.is_dir():
            raise DataError(
                f"The store of a job must have all its stages to open it, but {place} is not there."
            )
        return place, True

    def check(self) -> None:
        """Nothing is written."""


def open_job(folder: Path, may_train: bool = True) -> FinishedJob:
    """Open the job of a folder.

    Args:
        folder: the job's.
        may_train: is a stage that the store lacks trained again? Else it is a DataError to ask for it.

    Raises:
        DataError: the folder holds no job that ended well, or one of another data set or program.
    """
    result = read_finished(folder)
    config = result["config"]
    if not config["store_dir"]:
        raise DataError(f"{folder} must be a job's own folder, but is a copy that knows no `store_dir`.")
    prepare_process(config)
    plan = make_plan(config, folder)
    if not may_train:
        plan = replace(plan, store=KeptStages(plan.store.root))
    runner = Runner(plan, plan.dataset.load())
    runner.check()
    if runner.keys != {name: stage["key"] for name, stage in result["stages"].items()}:
        raise DataError(f"{folder} must be a job on the data as they are now, but they have changed since.")
    return FinishedJob(result, runner)
