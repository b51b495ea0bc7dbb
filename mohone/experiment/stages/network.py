"""The stage that embeds the network of the training triples: `vectors.pt`."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from mohone.core.config import Plain
from mohone.experiment.stages.base import Sources, Stage, Trained
from mohone.graph.network import Network, check_weighting
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

    @cached_property
    def network(self) -> Network:
        """The entities as a network, of the training triples alone."""
        return self.plan.network(self.kg)

    def check(self) -> None:
        """Is the objective for this many entities, and has the network the weights it wants?"""
        assert self.plan.embedding is not None
        check_weighting(self.plan.weighting, self.kg.weights)
        self.plan.embedding.learner.objective_for(self.kg.n_entities)

    def train(self, folder: Path, runner: Sources) -> Plain:  # noqa: ARG002
        """Learn the vectors."""
        assert self.plan.embedding is not None
        # Not the one that is kept: of millions of entities it takes what the baseline's training wants.
        network = self.plan.network(self.kg)
        vectors, notes = self.plan.embedding.fit(network, self.plan.trainers, self.plan.seed)
        torch.save(vectors, folder / VECTORS)
        return notes

    def read(self, trained: Trained) -> NetworkSpace:
        """The network, and `(n_entities, dim)` vectors."""
        vectors: Tensor = torch.load(trained.folder / VECTORS, weights_only=True)
        return NetworkSpace(self.network, vectors)
