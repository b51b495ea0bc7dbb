"""A network embedding as Python has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mohone.api.view import View, read_only
from mohone.graph.network import Network


class NetworkVectors(View):
    """Where the entities lie in network space.

    Args:
        job: has a network embedding.
    """

    @property
    def key(self) -> str:
        """Of all that the vectors depend on: their name in the store."""
        return self._job.runner.keys["netemb"]

    @property
    def network(self) -> Network:
        """The entities as an undirected network."""
        return self._job.space.network

    @property
    def vectors(self) -> np.ndarray:
        """`(n_entities, dim)` in the order of `kg.entities.names`, read-only."""
        return read_only(self._job.network_vectors)

    def export(self, file: str | Path) -> None:
        """Write the vectors with their names: `.npz`, `.safetensors` or `.txt` (word2vec's text)."""
        self._write(file, self._job.network_vectors)

    def __repr__(self) -> str:
        n, dim = self.vectors.shape
        return f"<{self.config['choices']['netemb']} of {self.kg.name}: {n:,} vectors of {dim} numbers>"
