"""Infusion by retrofitting: choose a point of the grid, move the entities, re-train the relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mohone.core.errors import ConfigError, require_choice, require_float, require_int, require_some
from mohone.core.nearest import METRICS, check_nearest
from mohone.core.progress import progress_bar
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.infusion.base import Infusion, NetworkSpace, Notes, Retrain
from mohone.infusion.grid import Selection, select
from mohone.infusion.retrofit import Pull
from mohone.kge import KGEModel
from mohone.kge.query_side import MOVED

if TYPE_CHECKING:
    from mohone.infusion.callback import RetrofitCallback


@dataclass(frozen=True)
class Retraining(Infusion):
    """What infusions share that re-train relations afterwards.

    Re-training starts from the infused state, which competes with every epoch of it on validation: it is kept
    only where it helps.

    Attributes:
        retrain_epochs: most epochs; 0: none.
        retrain_patience: validations without a new best after which it stops.
        retrain_lr_factor: the learning rate as a share of the training's: large steps lose some gain.
    """

    retrain_epochs: int = 5
    retrain_patience: int = 1
    retrain_lr_factor: float = 0.1

    def __post_init__(self) -> None:
        require_int("infusion.retrain_epochs", self.retrain_epochs, 0)
        require_int("infusion.retrain_patience", self.retrain_patience, 1)
        require_float("infusion.retrain_lr_factor", self.retrain_lr_factor, strict=True)

    def rebuild(self, model: KGEModel, notes: Notes, kg: KnowledgeGraph) -> KGEModel:  # noqa: ARG002
        """The baseline's kind, or a model whose known side moves alone."""
        return MOVED[notes["selection"]["side"]](model)

    def retrained(self, model: KGEModel, callback: RetrofitCallback, retrain: Retrain) -> Notes:
        """Move what the callback moves, and re-train the rest."""
        return retrain(
            model,
            callback,
            lr_factor=self.retrain_lr_factor,
            max_epochs=self.retrain_epochs,
            patience=self.retrain_patience,
        )


@dataclass(frozen=True)
class Retrofit(Retraining):
    """Draw entities towards their network neighbours, then re-train relations (the paper, section 3.4).

    Attributes:
        neighbors: numbers of neighbours to try on validation, or one.
        beta: total pulls of the neighbours to try, or one; 0 is "no infusion".
        side: what moves, `both` sides of a query or `query`, its known one alone; or both choices to try.
        alpha: pull of the baseline's own vector.
        iterations: of the update.
        metric: `cosine` or `euclidean`, between network embeddings.
        thaw_epoch: epoch of re-training from which entities move again; None: never.
    """

    neighbors: int | Sequence[int] = (3, 10, 20)
    beta: float | Sequence[float] = (0, 0.1, 0.2, 0.6)
    side: str | Sequence[str] = "both"
    alpha: float = 1.0
    iterations: int = 10
    metric: str = "cosine"
    thaw_epoch: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for k in _tried("neighbors", self.neighbors):
            require_int("infusion.neighbors", k, 1)
        for side in _tried("side", self.side):
            require_choice("infusion.side", side, tuple(MOVED))
        for beta in _tried("beta", self.beta):
            Pull(beta, self.alpha, self.iterations)
        require_choice("infusion.metric", self.metric, METRICS)
        if self.thaw_epoch is not None:
            require_int("infusion.thaw_epoch", self.thaw_epoch, 0)
            if self.thaw_epoch >= self.retrain_epochs:
                raise ConfigError(
                    f"`infusion.thaw_epoch` must be below `infusion.retrain_epochs`, {self.retrain_epochs}, "
                    f"but is {self.thaw_epoch}."
                )

    def check(self, n_nodes: int, n_processes: int) -> None:
        """Can neighbours be found, and entities thaw?"""
        check_nearest(n_nodes)
        if self.thaw_epoch is not None and n_processes > 1:
            raise ConfigError("`infusion.thaw_epoch` must be null with several devices, but is set.")

    def fit(
        self, model: KGEModel, space: NetworkSpace, validation: LinkPrediction, retrain: Retrain
    ) -> tuple[KGEModel, Notes]:
        """Choose on validation, retrofit, re-train."""
        from mohone.infusion.callback import RetrofitCallback

        nearest = space.nearest(max(_tried("neighbors", self.neighbors)), self.metric)
        selection = self._choose(model, nearest.rows, validation)
        model = MOVED[selection.side](model)
        callback = RetrofitCallback(
            nearest.rows[:, : selection.neighbors],
            Pull(selection.beta, self.alpha, self.iterations),
            self.thaw_epoch,
        )
        notes: Notes = {}
        valid_mrr = selection.valid_mrr_retrofitted
        if selection.beta == 0 or self.retrain_epochs == 0:
            callback.retrofit_and_freeze(model)
        else:
            notes["retraining"] = self.retrained(model, callback, retrain)
            valid_mrr = notes["retraining"]["valid_mrr"]
        notes["objective"] = callback.objective if selection.beta else []
        notes |= {"selection": {**selection.to_dict(), "valid_mrr_infused": valid_mrr}}
        return model, {**notes, "valid_mrr": valid_mrr, "neighbor_recall": nearest.recall}

    def _choose(self, model: KGEModel, nearest: Any, validation: LinkPrediction) -> Selection:
        sides, ks = _tried("side", self.side), _tried("neighbors", self.neighbors)
        pulls = [Pull(beta, self.alpha, self.iterations) for beta in _tried("beta", self.beta)]
        n_points = len(sides) * len(ks) * len({pull.beta for pull in pulls} - {0})
        with progress_bar("infusion grid", n_points) as bar:
            return select(
                model,
                nearest,
                validation.mrr,
                sides=sides,
                neighbors=ks,
                pulls=pulls,
                on_point=bar.update,
            )


@dataclass(frozen=True)
class QueryRetrofit(Retrofit):
    """The same, but only the known side of a query moves: candidates keep their vectors."""

    side: str | Sequence[str] = "query"


@dataclass(frozen=True)
class RetrainOnly(Retraining):
    """The control of a gain: relations are re-trained as after retrofitting, while no entity moves."""

    is_control = True
    needs_embedding = False

    def fit(
        self,
        model: KGEModel,
        space: NetworkSpace,
        validation: LinkPrediction,
        retrain: Retrain,
    ) -> tuple[KGEModel, Notes]:
        """Freeze the entities and re-train."""
        from mohone.infusion.callback import RetrofitCallback

        nobody = space.vectors.new_empty(model.n_entities, 0).long()
        unmoved = Pull(0.0)
        selection = select(model, nobody, validation.mrr, sides=("both",), neighbors=(1,), pulls=(unmoved,))
        notes: Notes = {"objective": []}
        valid_mrr = selection.valid_mrr_baseline
        callback = RetrofitCallback(nobody, unmoved)
        if self.retrain_epochs:
            notes["retraining"] = self.retrained(model, callback, retrain)
            valid_mrr = notes["retraining"]["valid_mrr"]
        else:
            callback.retrofit_and_freeze(model)
        chosen = {"chosen": "no entity moves", "kept": True, "valid_mrr_infused": valid_mrr}
        return model, {**notes, "selection": {**selection.to_dict(), **chosen}, "valid_mrr": valid_mrr}


def _tried(name: str, value: Any) -> tuple[Any, ...]:
    """The values to try: those of a list, or the one."""
    return require_some(f"infusion.{name}", value)
