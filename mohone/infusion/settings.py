"""What can be said about an infusion, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mohone.core.errors import ConfigError, require_bool, require_choice, require_float, require_int
from mohone.core.nearest import METRICS
from mohone.infusion.retrofit import check_pulls
from mohone.kge.query_side import SIDES


@dataclass(frozen=True)
class Retrofit:
    """Retrofit entities, then re-train relations.

    Attributes:
        neighbors: numbers of neighbours to try, or one.
        beta: total pulls of the neighbours to try, or one; 0 is "no infusion".
        alpha: pull of the baseline's vector.
        iterations: of the update.
        side: what moves, `both` sides of a query or `query`, its known one alone; or both choices to try.
        metric: `cosine` or `euclidean`, between network embeddings.
        retrain_epochs: most epochs of re-training relations; 0: none.
        retrain_patience: validations without a new best after which re-training stops.
        retrain_lr_factor: its learning rate as a share of `training.lr`.
        thaw_epoch: epoch of re-training from which entities move again; None: never.
        retrain_unmoved: are relations re-trained also where nothing moved (at a beta of 0)? Then the infusion
            is the control of another's gain: what of it is more training.
    """

    neighbors: Sequence[int]
    beta: Sequence[float]
    alpha: float
    iterations: int
    side: Sequence[str]
    metric: str
    retrain_epochs: int
    retrain_patience: int
    retrain_lr_factor: float
    thaw_epoch: int | None = None
    retrain_unmoved: bool = False

    def __post_init__(self) -> None:
        for name in ("neighbors", "beta", "side"):
            value = getattr(self, name)
            values = tuple(value) if isinstance(value, list | tuple) else (value,)
            if not values:
                raise ConfigError(f"`infusion.{name}` must have a value to try, but is empty.")
            object.__setattr__(self, name, values)
        for k in self.neighbors:
            require_int("infusion.neighbors", k, 1)
        for beta in self.beta:
            check_pulls(beta, self.alpha)
        for side in self.side:
            require_choice("infusion.side", side, tuple(SIDES))
        require_int("infusion.iterations", self.iterations, 1)
        require_choice("infusion.metric", self.metric, METRICS)
        require_int("infusion.retrain_epochs", self.retrain_epochs, 0)
        require_int("infusion.retrain_patience", self.retrain_patience, 1)
        require_float("infusion.retrain_lr_factor", self.retrain_lr_factor, strict=True)
        if self.thaw_epoch is not None:
            require_int("infusion.thaw_epoch", self.thaw_epoch, 0)
            if self.thaw_epoch >= self.retrain_epochs:
                raise ConfigError(
                    f"`infusion.thaw_epoch` must be below `infusion.retrain_epochs`, {self.retrain_epochs}, "
                    f"but is {self.thaw_epoch}."
                )
        require_bool("infusion.retrain_unmoved", self.retrain_unmoved)
