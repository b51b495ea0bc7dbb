"""The infusion from end to end: choose a point of the grid, retrofit, re-train what is not an entity's."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from torch import Tensor

from mohone.core.progress import progress_bar
from mohone.infusion.callback import RetrofitCallback
from mohone.infusion.retrofit import objective_curve
from mohone.infusion.selection import select
from mohone.infusion.settings import Retrofit
from mohone.kge import KGEModel
from mohone.kge.query_side import SIDES
from mohone.training.module import FitSettings

Refit = Callable[..., dict[str, Any]]


def infuse(
    model: KGEModel,
    nearest: Tensor,
    chosen: Retrofit,
    settings: FitSettings,
    mrr: Callable[[KGEModel], float],
    refit: Refit,
) -> tuple[KGEModel, dict[str, Any]]:
    """Turn a trained baseline into its infused model.

    Re-training starts from the retrofitted state, which competes with every epoch of it on validation: it is
    kept only where it helps.

    Args:
        model: the best baseline; its tables become the infused model's.
        nearest: `(n_entities, max(chosen.neighbors))`, see `nearest_neighbors`.
        chosen: the grid, and how relations are re-trained.
        settings: with which the baseline was fitted.
        mrr: the validation score of a model.
        refit: fits a model, called as `refit(model, settings, callbacks=..., from_start=True)`.

    Returns:
        the infused model; `selection`, `objective` (of retrofitting: before it and after each iteration), and
        `retraining` where there was any.
    """
    n_points = len(chosen.side) * len(chosen.neighbors) * len(set(chosen.beta) - {0})
    with progress_bar("infusion grid", n_points) as bar:
        selection = select(
            model,
            nearest,
            mrr,
            sides=chosen.side,
            neighbors=chosen.neighbors,
            betas=chosen.beta,
            alpha=chosen.alpha,
            iterations=chosen.iterations,
            on_point=bar.update,
        )
    model = SIDES[selection.side](model)
    callback = RetrofitCallback(
        nearest[:, : selection.neighbors],
        selection.beta,
        selection.alpha,
        chosen.iterations,
        chosen.thaw_epoch,
    )
    info: dict[str, Any] = {
        "selection": selection.to_dict(),
        "objective": _objective(model, callback) if selection.beta else [],
    }
    stays = selection.beta == 0 and not chosen.retrain_unmoved
    if stays or chosen.retrain_epochs == 0:
        callback.retrofit_and_freeze(model)
        info["selection"]["valid_mrr_infused"] = selection.valid_mrr_retrofitted
        return model, info
    settings = dataclasses.replace(
        settings,
        lr=settings.lr * chosen.retrain_lr_factor,
        schedule="constant",
        max_epochs=chosen.retrain_epochs,
        patience=chosen.retrain_patience,
        validate_every=1,
        warmup_epochs=0,
    )
    info["retraining"] = refit(model, settings, callbacks=(callback,), from_start=True)
    info["selection"]["valid_mrr_infused"] = info["retraining"]["valid_mrr"]
    return model, info


def _objective(model: KGEModel, callback: RetrofitCallback) -> list[float]:
    """Of all entity tables together, before retrofitting and after each iteration."""
    curves = [
        objective_curve(table.data, callback.neighbors, callback.beta, callback.alpha, callback.iterations)
        for table in model.entity_parameters().values()
    ]
    return [sum(step) for step in zip(*curves, strict=True)]
