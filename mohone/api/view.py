"""What a model and a network embedding have in common: the job that they came out of."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from mohone.core.config import Plain
from mohone.core.named_vectors import write_vectors
from mohone.data import KnowledgeGraph
from mohone.experiment.trained import TrainedJob


class View:
    """A part of what a job made.

    Args:
        job: what it came out of.
    """

    def __init__(self, job: TrainedJob) -> None:
        self._job = job

    @property
    def kg(self) -> KnowledgeGraph:
        """The data set."""
        return self._job.kg

    @property
    def config(self) -> Plain:
        """All settings."""
        return self._job.runner.plan.config

    def _write(self, file: str | Path, vectors: Tensor) -> None:
        write_vectors(Path(file), self.kg.entities.names, vectors.detach().cpu())
