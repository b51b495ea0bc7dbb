"""The callback and the choice of the grid, on a small trained baseline."""

from typing import Any

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.graph.network import Network
from mohone.infusion import Infusion, NetworkSpace, RetrainOnly, Retrofit
from mohone.infusion.callback import RetrofitCallback
from mohone.infusion.grid import Selection, select
from mohone.infusion.retrofit import Pull, retrofit
from mohone.kge import KGEModel, TransE, TransR
from mohone.training import Training
from tests.helpers.training import OBJECTIVE, callback, new_transe, settings, train


def test_entities_are_retrofitted_and_only_relations_are_trained(
    umls: KnowledgeGraph, nearest: torch.Tensor
) -> None:
    model = new_transe(umls)
    entity, relation = model.entity.detach().clone(), model.relation.detach().clone()
    info = train(umls, model, OBJECTIVE, settings(), callbacks=(callback(nearest),), from_start=True)
    assert info["best_epoch"] > 0
    assert torch.equal(model.entity, retrofit(entity, nearest[:, :4], Pull(0.5)))
    assert not torch.equal(model.relation, relation)


class Retrainer:
    """Re-trains as a job does; keeps whether a model warmed up meanwhile."""

    def __init__(self, kg: KnowledgeGraph, fitted: Training) -> None:
        self.kg, self.fitted, self.warming_up = kg, fitted, []

    def __call__(
        self, model: KGEModel, callback: RetrofitCallback, *, lr_factor: float, max_epochs: int, patience: int
    ) -> dict[str, Any]:
        chosen = self.fitted.for_retraining(lr_factor, max_epochs, patience)
        notes = train(self.kg, model, OBJECTIVE, chosen, callbacks=(callback,), from_start=True)
        self.warming_up.append(model.warming_up)
        return notes


@pytest.fixture(scope="module")
def space(umls_network: Network) -> NetworkSpace:
    torch.manual_seed(5)
    return NetworkSpace(umls_network, torch.randn(umls_network.n_nodes, 8))


def test_a_model_that_warmed_up_is_retrained_as_itself(umls: KnowledgeGraph, space: NetworkSpace) -> None:
    torch.manual_seed(0)
    model = TransR(umls.n_entities, umls.n_relations, 16)
    fitted = settings(max_epochs=6, warmup_epochs=3)
    train(umls, model, OBJECTIVE, fitted)
    projection = model.projection.detach().clone()
    chosen = Retrofit(neighbors=4, beta=0.1, retrain_epochs=3, retrain_patience=9, retrain_lr_factor=1.0)
    retrainer = Retrainer(umls, fitted)
    infused, notes = chosen.fit(model, space, LinkPrediction(umls, "valid", ("filtered",)), retrainer)
    assert retrainer.warming_up == [False]
    assert notes["retraining"]["best_epoch"] > 0
    assert notes["selection"]["valid_mrr_infused"] == notes["valid_mrr"]
    assert not torch.equal(infused.get_parameter("projection"), projection)


@pytest.mark.parametrize(
    "infusion", [Retrofit(neighbors=1, beta=0, retrain_epochs=2), RetrainOnly(2, 1, 1.0)]
)
def test_the_control_trains_relations_and_moves_nothing(
    umls: KnowledgeGraph, space: NetworkSpace, infusion: Infusion
) -> None:
    model = new_transe(umls)
    entity, relation = model.entity.detach().clone(), model.relation.detach().clone()
    validation = LinkPrediction(umls, "valid", ("filtered",))
    infused, notes = infusion.fit(model, space, validation, Retrainer(umls, settings()))
    assert notes["selection"]["beta"] == 0
    assert notes["selection"]["kept"] == infusion.is_control
    assert torch.equal(infused.get_parameter("entity"), entity)
    assert torch.equal(infused.get_parameter("relation"), relation) is not infusion.is_control
    again = infusion.rebuild(new_transe(umls), notes, umls)
    again.load_state_dict(infused.state_dict())
    assert torch.equal(again.get_parameter("relation"), infused.get_parameter("relation"))


def test_the_retrofitted_state_competes_with_the_retrained(
    umls: KnowledgeGraph, nearest: torch.Tensor
) -> None:
    model = new_transe(umls)
    train(umls, model, OBJECTIVE, settings(max_epochs=8))
    entity, relation = model.entity.detach().clone(), model.relation.detach().clone()
    bad = settings(optimizer="sgd", lr=1e4, patience=1)
    info = train(umls, model, OBJECTIVE, bad, callbacks=(callback(nearest),), from_start=True)
    assert info["best_epoch"] == 0
    assert torch.equal(model.entity, retrofit(entity, nearest[:, :4], Pull(0.5)))
    assert torch.equal(model.relation, relation)


def test_entities_can_thaw(umls: KnowledgeGraph, nearest: torch.Tensor) -> None:
    frozen, thawed = new_transe(umls), new_transe(umls)
    for model, thaw_epoch in ((frozen, None), (thawed, 2)):
        train(umls, model, OBJECTIVE, settings(), callbacks=(callback(nearest, thaw_epoch),))
    start = retrofit(new_transe(umls).entity, nearest[:, :4], Pull(0.5))
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
    return select(model, nearest, mrr, sides=sides, neighbors=[2, 5], pulls=[Pull(beta) for beta in betas])


def test_selection_is_the_best_of_the_grid_by_hand(umls: KnowledgeGraph, nearest: torch.Tensor) -> None:
    model = new_transe(umls)
    train(umls, model, OBJECTIVE, settings(max_epochs=8))
    before = model.entity.detach().clone()
    chosen = choose(umls, model, nearest, [0, 0.1, 0.4])
    assert torch.equal(model.entity, before)
    points = {(p["neighbors"], p["beta"]): p["valid_mrr"] for p in chosen.grid}
    assert set(points) == {(0, 0.0), (2, 0.1), (2, 0.4), (5, 0.1), (5, 0.4)}
    for (k, beta), score in points.items():
        model.entity.data = retrofit(before, nearest[:, :k], Pull(beta))
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
        ({"beta": []}, r"`infusion.beta` must have a value, but is empty\."),
        ({"neighbors": 0}, r"`infusion.neighbors` must be an integer >= 1, but is 0\."),
        ({"side": "neither"}, r"`infusion.side` must be one of both, query, but is 'neither'\."),
        ({"metric": "dot"}, r"`infusion.metric` must be one of cosine, euclidean, but is 'dot'\."),
        ({"retrain_epochs": -1}, r"`infusion.retrain_epochs` must be an integer >= 0, but is -1\."),
        ({"thaw_epoch": 1}, r"`infusion.thaw_epoch` must be below `infusion.retrain_epochs`, 1, but is 1\."),
    ],
)
def test_bad_values_are_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Retrofit(**{"retrain_epochs": 1, **changed})  # type: ignore[arg-type]
