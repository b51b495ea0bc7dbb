"""The stage that embeds the network of the training triples: `vectors.pt`."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from mohone.core.config import Plain
from mohone.experiment.stages.base import Sources, Stage, Trained
from mohone.graph.network import check_weighting
from mohone.infusion import NetworkSpace

VECTORS = "vectors.pt"


class NetworkStage(Stage):
    """Learns where the entities lie in network space."""

    name = "netemb"
    file = VECTORS

    @property
    def config(self) -> Plain:
        """The network and its embedding; the steps where they follow the network's size."""
        assert self.plan.embedding is not None
        config = {group: self.plan.config[group] for group in ("network", "netemb", "trainer")}
        learner, n_nodes = self.plan.embedding.learner, self.kg.n_entities
        steps = learner.steps_for(n_nodes)
        return config if steps == learner.min_steps else {**config, "steps": steps}

    def check(self) -> None:
        """Is the objective for this many entities, and has the network the weights it wants?"""
        assert self.plan.embedding is not None
        check_weighting(self.plan.weighting, self.kg.weights)
        self.plan.embedding.check(self.kg.n_entities)

    def train(self, folder: Path, runner: Sources) -> Plain:  # noqa: ARG002
        """Learn the vectors."""
        assert self.plan.embedding is not None
        vectors, notes = self.plan.embedding.fit(
            self.plan.network(self.kg), self.plan.trainers, self.plan.seed
        )
        torch.save(vectors, folder / VECTORS)
        return notes

    def read(self, trained: Trained, runner: Sources) -> NetworkSpace:  # noqa: ARG002
        """The network, and `(n_entities, dim)` vectors, which stay in their file until they are looked at."""
        vectors: Tensor = torch.load(trained.folder / VECTORS, weights_only=True, mmap=True)
        return NetworkSpace(self.plan.network(self.kg), vectors)
