"""A network embedding: what N(u) is, and the one learner of F such that softmax(F F^T) predicts it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from mohone.core.errors import ConfigError, require_choice, require_float, require_int, require_kind
from mohone.graph.network import Network
from mohone.netemb.neighborhood import Neighborhood
from mohone.netemb.pairs import PairBatches
from mohone.netemb.rows import NeighborRows

if TYPE_CHECKING:
    import pytorch_lightning as pl

    from mohone.netemb.exact import ExactObjective, NodeBatches
    from mohone.netemb.sampled import SampledObjective

OBJECTIVES = ("auto", "exact", "sampled")
MOST_EXACT = 50_000  # Nodes up to which a matrix of all pairs is held: 5 GB in float16.
_FEW = 100  # Nodes; with fewer, fewer steps come as near to the loss's lowest.
# To begin an epoch costs as much as ten steps of a small network: its epochs are of several passes.
_BATCHES, _EPOCHS = 50, 20  # Of so many batches, as long as there are so many epochs.


@dataclass(frozen=True)
class Learner:
    """How an embedding is learned.

    Attributes:
        dim: columns of F.
        objective: `exact` (whole rows), `sampled` (draws), or `auto`: exact up to 50,000 nodes.
        min_epochs: at least so many passes over the nodes.
        min_steps: at least so many steps: small networks need many passes, large ones few. With n < 100 nodes
            n hundredths of them do.
        lr: the first learning rate of the exact objective (Adam).
        batch_size: nodes of a step of the exact objective.
        sampled_lr: the first learning rate of the sampled objective (row-wise Adagrad).
        sampled_batch_size: nodes of a step of the sampled objective.
        n_draws: of each node and pass, by the sampled objective.
        n_negatives: of each step of the sampled objective.
    """

    dim: int = 100
    objective: str = "auto"
    min_epochs: int = 10
    min_steps: int = 1000
    lr: float = 0.01
    batch_size: int = 256
    sampled_lr: float = 0.2
    sampled_batch_size: int = 1024
    n_draws: int = 16
    n_negatives: int = 512

    def __post_init__(self) -> None:
        require_choice("netemb.objective", self.objective, OBJECTIVES)
        for name in ("lr", "sampled_lr"):
            require_float(f"netemb.{name}", getattr(self, name), strict=True)
        for name in ("dim", "batch_size", "min_epochs", "min_steps", "sampled_batch_size", "n_draws"):
            require_int(f"netemb.{name}", getattr(self, name), 1)
        require_int("netemb.n_negatives", self.n_negatives, 1)

    def objective_for(self, n_nodes: int) -> str:
        """`exact` or `sampled`.

        Raises:
            ConfigError: if the exact one is asked for and the network is too large for it.
        """
        fits = n_nodes <= MOST_EXACT
        if self.objective == "exact" and not fits:
            raise ConfigError(
                f"`netemb.objective` must be sampled or auto beyond {MOST_EXACT:,} entities, but is exact "
                f"with {n_nodes:,}."
            )
        return "exact" if fits and self.objective != "sampled" else "sampled"

    def steps_for(self, n_nodes: int) -> int:
        """At least so many steps are learned.

        >>> Learner().steps_for(4), Learner().steps_for(135)
        (40, 1000)
        """
        return -(-self.min_steps * min(_FEW, n_nodes) // _FEW)


@dataclass(frozen=True)
class NetworkEmbedding:
    """What is learned on a network, and how.

    Attributes:
        neighborhood: what N(u) is.
        learner: how F is learned.
    """

    neighborhood: Neighborhood
    learner: Learner = field(default_factory=Learner)

    def __post_init__(self) -> None:
        require_kind("netemb.neighborhood", self.neighborhood, Neighborhood)
        require_kind("netemb.learner", self.learner, Learner)

    def check(self, n_nodes: int) -> None:
        """Refuse what could not be learned of so many nodes.

        Raises:
            ConfigError: what cannot be.
        """
        self.neighborhood.check(self.learner.objective_for(n_nodes))

    def fit(
        self, network: Network, make_trainer: Callable[..., pl.Trainer], seed: int
    ) -> tuple[Tensor, dict[str, Any]]:
        """The `(n_nodes, dim)` vectors, and what is to be noted of them.

        Raises:
            ConfigError: see `Learner.objective_for`.
            TrainingError: the loss is not finite.
        """
        vectors, history = learn(network, self.neighborhood, make_trainer, self.learner, seed)
        return vectors, {
            "n_edges": network.n_edges,
            "n_isolated": int(network.isolated.sum()),
            "objective": self.learner.objective_for(network.n_nodes),
            "loss": history[-1]["loss"] if history else None,
            "history": history,
        }


def learn(
    network: Network,
    neighborhood: Neighborhood,
    make_trainer: Callable[..., pl.Trainer],
    settings: Learner,
    seed: int,
) -> tuple[Tensor, list[dict[str, float]]]:
    """Learn an embedding of all nodes.

    Isolated nodes have no neighbourhood to predict and keep their first, random vector but
    for what the others' softmax does to it; the infusion never moves them.

    Returns:
        `(n_nodes, dim)` and the loss (nats a node) by epoch, which is several passes over a small network.
    """
    neighborhood = copy.copy(neighborhood)  # What it observes is not held longer than it is needed.
    neighborhood.fit(network, seed)
    module, batches, n_passes, place = lesson_of(network, neighborhood, settings, seed)
    if len(batches) == 0:
        return module.vectors.detach().clone(), []
    n_epochs, n_each = _shared_out(n_passes, len(batches))
    trainer = make_trainer("netemb", one_process=True, max_epochs=n_epochs, **place)
    n_threads = torch.get_num_threads()  # Drawing takes one of them for itself.
    try:
        trainer.fit(module, DataLoader(_Passes(batches, n_each), batch_size=None))
    finally:
        torch.set_num_threads(n_threads)
    return module.vectors.detach(), list(module.history)


class Lesson(NamedTuple):
    """What a Trainer needs to learn an embedding.

    Attributes:
        module: has the vectors.
        batches: of one pass over the nodes.
        n_passes: that are learned.
        place: arguments of the Trainer: draws are learned on the CPU.
    """

    module: ExactObjective | SampledObjective
    batches: NodeBatches | PairBatches
    n_passes: int
    place: dict[str, str]


def lesson_of(
    network: Network, neighborhood: Neighborhood, settings: Learner, seed: int, rows: Any = None
) -> Lesson:
    """How an embedding is learned.

    Args:
        network: all nodes.
        neighborhood: fitted to it.
        settings: of the learner.
        seed: of the order of nodes and of what is drawn.
        rows: of the exact objective, by node; None: those of the neighbourhood, which are computed now.
    """
    from mohone.netemb.exact import ExactObjective, NodeBatches
    from mohone.netemb.sampled import SampledObjective

    n, generator = network.n_nodes, torch.Generator().manual_seed(seed)
    module: ExactObjective | SampledObjective
    batches: NodeBatches | PairBatches
    if settings.objective_for(n) == "exact":
        rows, place = NeighborRows(neighborhood, network) if rows is None else rows, {}
        module = ExactObjective(rows, n, settings.dim, settings.lr)
        batches = NodeBatches(network, settings.batch_size, generator)
    else:
        place = {"accelerator": "cpu", "precision": "32-true"}
        module = SampledObjective(n, settings.dim, settings.sampled_lr)
        drawn = settings.sampled_batch_size, settings.n_draws, settings.n_negatives
        batches = PairBatches(neighborhood, network, *drawn, generator)
    n_passes = max(settings.min_epochs, math.ceil(settings.steps_for(n) / max(1, len(batches))))
    module.n_steps = n_passes * len(batches)
    return Lesson(module, batches, n_passes, place)


def _shared_out(n_passes: int, n_batches: int) -> tuple[int, int]:
    """Epochs and passes of each; those of the last that are too many have a learning rate of 0.

    >>> _shared_out(1000, 1), _shared_out(334, 3), _shared_out(18, 57), _shared_out(5, 1)
    ((20, 50), (21, 16), (18, 1), (5, 1))
    """
    n_epochs = math.ceil(n_passes / max(1, min(_BATCHES // n_batches, n_passes // _EPOCHS)))
    return n_epochs, math.ceil(n_passes / n_epochs)


class _Passes(IterableDataset[Any]):
    """Several passes over the nodes, one after the other: an epoch of a small network."""

    def __init__(self, batches: NodeBatches | PairBatches, n_passes: int) -> None:
        self.batches, self.n_passes = batches, n_passes

    def __len__(self) -> int:
        return self.n_passes * len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self.n_passes):
            yield from self.batches
