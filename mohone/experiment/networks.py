"""A network embedding as it is configured: what is learned on a graph, and how."""

from __future__ import annotations

from torch import Tensor

from mohone.core.config import Plain, build, keys_of, settings_of
from mohone.core.errors import require_choice
from mohone.experiment.trainers import TrainerFactory
from mohone.graph.network import WEIGHTINGS, Network
from mohone.netemb.learn import LearnSettings, learn
from mohone.netemb.neighborhood import Neighborhood


class NetworkPlan:
    """The groups `network` and `netemb` of a configuration, checked when this is made.

    Args:
        config: of the job.

    Raises:
        ConfigError: a value that cannot be.
    """

    def __init__(self, config: Plain) -> None:
        self.config = {"graph": config["graph"], "netemb": config["netemb"]}
        self.weighting = require_choice("graph.weighting", config["graph"]["weighting"], WEIGHTINGS)
        self.is_wanted = "_target_" in config["netemb"]
        if self.is_wanted:
            self.settings: LearnSettings = settings_of(LearnSettings, "netemb", config["netemb"])
            self._new_neighborhood()  # Only to check its configuration.

    def check_size(self, n_nodes: int) -> None:
        """Refuse, before any work, an objective that is not for this many nodes.

        Raises:
            ConfigError: see `LearnSettings.objective_for`.
        """
        if self.is_wanted:
            self.settings.objective_for(n_nodes)

    def learn(self, network: Network, trainers: TrainerFactory, seed: int) -> tuple[Tensor, Plain]:
        """The `(n_nodes, dim)` vectors, and what is to be noted of them."""
        vectors, history = learn(network, self._new_neighborhood(), trainers, self.settings, seed)
        return vectors, {
            "n_edges": network.n_edges,
            "n_isolated": int(network.isolated.sum()),
            "objective": self.settings.objective_for(network.n_nodes),
            "loss": history[-1]["loss"] if history else None,
            "history": history,
        }

    def _new_neighborhood(self) -> Neighborhood:
        neighborhood: Neighborhood = build("netemb", self.config["netemb"], without=keys_of(LearnSettings))
        return neighborhood
