"""The contract of an infusion: what a network knows, put into a trained model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from torch import Tensor

from mohone.core.nearest import Nearest, nearest_neighbors
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.graph.network import Network
from mohone.kge import KGEModel

if TYPE_CHECKING:
    from pytorch_lightning.callbacks import Callback

Notes = dict[str, Any]


@dataclass(frozen=True)
class NetworkSpace:
    """A network and where its embedding puts the entities.

    Attributes:
        network: of the training triples.
        vectors: `(n_entities, dim)`; of width 0 where an infusion needs none.
    """

    network: Network
    vectors: Tensor

    def nearest(self, k: int, metric: str = "cosine") -> Nearest:
        """Each entity's k nearest others; entities without an edge have none and are nobody's."""
        return nearest_neighbors(self.vectors, k, metric, excluded=self.network.isolated)


class Retrain(Protocol):
    """Trains what of a model is not frozen, by the objective that the model was trained with.

    Attributes:
        inverse_temperature: factor of the scores in that objective, if its loss has one.
    """

    inverse_temperature: float

    def __call__(
        self, model: KGEModel, callback: Callback, *, lr_factor: float, max_epochs: int, patience: int
    ) -> Notes:
        """Leave the model with its best weights on validation, those before training among them.

        Args:
            model: trained in place.
            callback: called by the Trainer; what it does before the optimiser is built, it does first.
            lr_factor: the learning rate as a share of the training's.
            max_epochs: at most so many, each validated.
            patience: validations without a new best after which it stops.

        Returns:
            notes of the training, `valid_mrr` among them.
        """
        ...


class Infusion(ABC):
    """A model and a network in, an infused model out.

    Attributes:
        is_control: does it change nothing that the network has a say in, to measure what of another's gain
            is not the network's?
        on_cpu: does its model stay on the CPU, wherever training is?
        needs_embedding: does it look at where the network embedding puts entities? Else none is learned for
            it, and the space that `fit` gets has the network alone, and vectors of width 0.
        keeps_baseline: is what `fit` returns a `Wrapped` around the baseline, which is as it was? Then that
            is neither kept nor held a second time.
    """

    is_control: bool = False
    on_cpu: ClassVar[bool] = False
    needs_embedding: bool = True
    keeps_baseline: bool = False

    def check(self, n_nodes: int, n_processes: int) -> None:
        """Refuse, before any work, what could not be done.

        Args:
            n_nodes: entities that have an edge.
            n_processes: of the Trainer.

        Raises:
            ConfigError: what cannot be.
        """

    @abstractmethod
    def fit(
        self, model: KGEModel, space: NetworkSpace, validation: LinkPrediction, retrain: Retrain
    ) -> tuple[KGEModel, Notes]:
        """Infuse a trained model, whose tables become the infused model's.

        Args:
            model: the best baseline.
            space: the network, and neighbours in it.
            validation: ranks the validation triples, which decide.
            retrain: trains what is left to train.

        Returns:
            the infused model; notes of plain types: `selection` (what validation chose: `chosen` in words,
            `kept`: is it better than nothing, `valid_mrr_baseline`, `valid_mrr_infused`), `valid_mrr`, and
            what else is worth keeping.
        """

    @abstractmethod
    def rebuild(self, model: KGEModel, notes: Notes, kg: KnowledgeGraph) -> KGEModel:
        """A model of the kind that `fit` returned, for its weights to be read into.

        Args:
            model: a new one of the baseline's kind; the baseline itself where that is kept.
            notes: of `fit`.
            kg: the data set.
        """

    def parts(self, model: KGEModel) -> dict[str, KGEModel]:  # noqa: ARG002
        """Models between the baseline and what `fit` returned, by name, so that a gain is told in parts."""
        return {}

    def why(
        self,
        model: KGEModel,  # noqa: ARG002
        kg: KnowledgeGraph,  # noqa: ARG002
        side: str,  # noqa: ARG002
        query: tuple[int, int],  # noqa: ARG002
        answer: int,  # noqa: ARG002
    ) -> list[str]:
        """What spoke for an answer, in sentences, the strongest first; none where an infusion cannot say.

        Args:
            model: as `fit` returned it.
            kg: the data set.
            side: `tail` or `head`, what is asked for.
            query: the known entity and the relation.
            answer: an entity.
        """
        return []
