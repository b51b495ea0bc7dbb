"""What a model and a network embedding have in common: the job that they came out of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from torch import Tensor

from mohone.core.config import Plain
from mohone.core.named_vectors import write_vectors
from mohone.data import KnowledgeGraph
from mohone.experiment.trained import TrainedJob


def read_only(vectors: Tensor) -> np.ndarray:
    """The same memory as an array, which a model that answers from it must not be changed by."""
    array: np.ndarray = vectors.numpy()
    array.flags.writeable = False
    return array


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
        if not isinstance(file, str | Path):
            raise TypeError(f"`file` must be a path, but is a {type(file).__name__}.")
        write_vectors(Path(file), self.kg.entities.names, vectors.detach().cpu())
