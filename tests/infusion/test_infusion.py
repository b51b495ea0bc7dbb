"""The callback and the choice of the grid, on a small trained baseline."""

from typing import Any

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.core.nearest import nearest_neighbors
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.infusion import Retrofit
from mohone.infusion.callback import RetrofitCallback
from mohone.infusion.infuse import infuse
from mohone.infusion.retrofit import retrofit
from mohone.infusion.selection import Selection, select
from mohone.kge import KGEModel, TransE, TransR
from mohone.training import NegativeSampling
from mohone.training.module import FitSettings
from tests.training.test_fit import new_transe, settings, train

OBJECTIVE = NegativeSampling(64, inverse_temperature=4.0)


@pytest.fixture(scope="module")
def nearest(umls: KnowledgeGraph) -> torch.Tensor:
    torch.manual_seed(5)
    return nearest_neighbors(torch.randn(umls.n_entities, 8), 6).rows


def callback(nearest: torch.Tensor, thaw_epoch: int | None = None) -> RetrofitCallback:
    return RetrofitCallback(nearest[:, :4], beta=0.5, alpha=1.0, iterations=10, thaw_epoch=thaw_epoch)


def test_entities_are_retrofitted_and_only_relations_are_trained(
    umls: KnowledgeGraph, nearest: torch.Tensor
) -> None:
    model = new_transe(umls)
    entity, relation = model.entity.detach().clone(), model.relation.detach().clone()
    info = train(umls, model, OBJECTIVE, settings(), callbacks=(callback(nearest),), from_start=True)
    assert info["best_epoch"] > 0
    assert torch.equal(model.entity, retrofit(entity, nearest[:, :4], 0.5))
    assert not torch.equal(model.relation, relation)


def test_a_model_that_began_on_hold_is_retrained_as_itself(
    umls: KnowledgeGraph, nearest: torch.Tensor
) -> None:
    torch.manual_seed(0)
    model = TransR(umls.n_entities, umls.n_relations, 16)
    fitted = settings(max_epochs=6, warmup_epochs=3)
    train(umls, model, OBJECTIVE, fitted)
    projection = model.projection.detach().clone()
    chosen = Retrofit(
        [4], [0.1], 1.0, 10, "both", "cosine", retrain_epochs=3, retrain_patience=9, retrain_lr_factor=1.0
    )
    warming_up = []

    def refit(model: KGEModel, settings: FitSettings, **arguments: Any) -> dict[str, Any]:
        info = train(umls, model, OBJECTIVE, settings, **arguments)
        warming_up.append(model.warming_up)
        return info

    mrr = LinkPrediction(umls, "valid", ("filtered",)).mrr
    infused, info = infuse(model, nearest, chosen, fitted, mrr, refit)
    assert warming_up == [False]
    assert info["retraining"]["best_epoch"] > 0
    assert not torch.equal(infused.get_parameter("projection"), projection)


@pytest.mark.parametrize("retrain_unmoved", [False, True])
def test_the_control_trains_relations_and_moves_nothing(
    umls: KnowledgeGraph, nearest: torch.Tensor, retrain_unmoved: bool
) -> None:
    model = new_transe(umls)
    entity, relation = model.entity.detach().clone(), model.relation.detach().clone()
    retraining = {"retrain_epochs": 2, "retrain_patience": 1, "retrain_lr_factor": 1.0}
    chosen = Retrofit([1], [0], 1.0, 10, "both", "cosine", **retraining, retrain_unmoved=retrain_unmoved)
    mrr = LinkPrediction(umls, "valid", ("filtered",)).mrr

    def refit(model: KGEModel, settings: FitSettings, **arguments: Any) -> dict[str, Any]:
        return train(umls, model, OBJECTIVE, settings, **arguments)

    infused, info = infuse(model, nearest, chosen, settings(), mrr, refit)
    assert info["selection"]["beta"] == 0
    assert torch.equal(infused.get_parameter("entity"), entity)
    assert torch.equal(infused.get_parameter("relation"), relation) is not retrain_unmoved


def test_the_retrofitted_state_competes_with_the_retrained(
    umls: KnowledgeGraph, nearest: torch.Tensor
) -> None:
    model = new_transe(umls)
    train(umls, model, OBJECTIVE, settings(max_epochs=8))
    entity, relation = model.entity.detach().clone(), model.relation.detach().clone()
    bad = settings(optimizer="sgd", lr=1e4, patience=1)
    info = train(umls, model, OBJECTIVE, bad, callbacks=(callback(nearest),), from_start=True)
    assert info["best_epoch"] == 0
    assert torch.equal(model.entity, retrofit(entity, nearest[:, :4], 0.5))
    assert torch.equal(model.relation, relation)


def test_entities_can_thaw(umls: KnowledgeGraph, nearest: torch.Tensor) -> None:
    frozen, thawed = new_transe(umls), new_transe(umls)
    for model, thaw_epoch in ((frozen, None), (thawed, 2)):
        train(umls, model, OBJECTIVE, settings(), callbacks=(callback(nearest, thaw_epoch),))
    start = retrofit(new_transe(umls).entity, nearest[:, :4], 0.5)
    assert torch.equal(frozen.entity, start)
    assert not torch.equal(thawed.entity, start)


def choose(
    umls: KnowledgeGraph,
    model: TransE,
    nearest: torch.Tensor,
    betas: list[float],
    sides: tuple[str, ...] = ("both",),
) -> Selection:
    mrr = LinkPrediction(umls, "valid", ("filtered",)).mrr
    return select(model, nearest, mrr, sides=sides, neighbors=[2, 5], betas=betas, alpha=1.0, iterations=10)


def test_selection_is_the_best_of_the_grid_by_hand(umls: KnowledgeGraph, nearest: torch.Tensor) -> None:
    model = new_transe(umls)
    train(umls, model, OBJECTIVE, settings(max_epochs=8))
    before = model.entity.detach().clone()
    chosen = choose(umls, model, nearest, [0, 0.1, 0.4])
    assert torch.equal(model.entity, before)
    points = {(p["neighbors"], p["beta"]): p["valid_mrr"] for p in chosen.grid}
    assert set(points) == {(0, 0.0), (2, 0.1), (2, 0.4), (5, 0.1), (5, 0.4)}
    for (k, beta), score in points.items():
        model.entity.data = retrofit(before, nearest[:, :k], beta)
        assert LinkPrediction(umls, "valid", ("filtered",)).mrr(model) == pytest.approx(score)
    assert points[chosen.neighbors, chosen.beta] == max(points.values())
    assert chosen.valid_mrr_baseline == points[0, 0.0]


def test_the_grid_can_choose_the_side(umls: KnowledgeGraph, nearest: torch.Tensor) -> None:
    model = new_transe(umls)
    train(umls, model, OBJECTIVE, settings(max_epochs=8))
    alone = {side: choose(umls, model, nearest, [0.1, 0.4], (side,)) for side in ("both", "query")}
    chosen = choose(umls, model, nearest, [0.1, 0.4], ("both", "query"))
    assert chosen.grid == alone["both"].grid + alone["query"].grid
    scores = {side: each.valid_mrr_retrofitted for side, each in alone.items()}
    assert chosen.side == max(scores, key=lambda side: scores[side])
    assert chosen.valid_mrr_retrofitted == max(scores.values())
    assert scores["both"] != scores["query"]


def test_the_baseline_competes_only_where_asked(umls: KnowledgeGraph, nearest: torch.Tensor) -> None:
    model = new_transe(umls)
    assert choose(umls, model, nearest, [0.3]).beta == 0.3
    train(umls, model, OBJECTIVE, settings(max_epochs=8))
    far = nearest.flip(0)  # Neighbours of other entities: pulls towards the wrong places.
    assert choose(umls, model, far, [0, 5.0]).beta == 0
    assert choose(umls, model, far[:, :0], [0.3]).beta == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"beta": -1}, r"`infusion.beta` must be >= 0, but is -1\."),
        ({"beta": [0.1, -2]}, r"`infusion.beta` must be >= 0, but is -2\."),
        ({"beta": []}, r"`infusion.beta` must have a value to try, but is empty\."),
        ({"neighbors": 0}, r"`infusion.neighbors` must be an integer >= 1, but is 0\."),
        ({"side": "neither"}, r"`infusion.side` must be one of both, query, but is 'neither'\."),
        ({"metric": "dot"}, r"`infusion.metric` must be one of cosine, euclidean, but is 'dot'\."),
        ({"retrain_epochs": -1}, r"`infusion.retrain_epochs` must be an integer >= 0, but is -1\."),
        ({"thaw_epoch": 1}, r"`infusion.thaw_epoch` must be below `infusion.retrain_epochs`, 1, but is 1\."),
    ],
)
def test_bad_values_are_refused(changed: dict[str, object], message: str) -> None:
    usual = {"neighbors": 3, "beta": 0.1, "alpha": 1.0, "iterations": 10, "metric": "cosine"}
    usual |= {"side": "both", "retrain_epochs": 1, "retrain_patience": 1, "retrain_lr_factor": 0.1}
    with pytest.raises(ConfigError, match=message):
        Retrofit(**{**usual, **changed})  # type: ignore[arg-type]
