"""What every choice keeps of its group's contract; that of models stands in `tests/kge/test_models.py`."""

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from pytorch_lightning.callbacks import Callback

from mohone.core.config import build
from mohone.data import KnowledgeGraph, PublishedDataset
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.graph.network import Network
from mohone.infusion import Infusion, NetworkSpace
from mohone.kge import KGEModel
from mohone.netemb import Learner, NetworkEmbedding
from mohone.netemb.rows import NeighborRows
from mohone.training import Training
from tests.helpers.configured import composed, files
from tests.helpers.graphs import network_of
from tests.helpers.training import OBJECTIVE, new_transe, settings, train, trainer


def each(group: str) -> pytest.MarkDecorator:
    """A test for each choice that makes something."""
    made = [path for path in files(group) if path.stem != "none"]
    return pytest.mark.parametrize("path", made, ids=lambda path: path.stem)


@each("dataset")
def test_a_data_set_is_a_knowledge_graph(path: Path) -> None:
    dataset = build("dataset", composed(path))
    if isinstance(dataset, PublishedDataset) or not getattr(dataset, "path", "here"):
        pytest.skip("needs a download, or a folder")
    kg = dataset.load()
    assert isinstance(kg, KnowledgeGraph)
    assert kg.fingerprint == dataset.load().fingerprint
    assert kg.report.lines()
    for triples in (kg.train, kg.valid, kg.test):
        assert len(triples)
        assert torch.equal(triples, torch.unique(triples, dim=0))
        assert (triples.amax(0) < torch.tensor([kg.n_entities, kg.n_relations, kg.n_entities])).all()


@each("training")
def test_a_training_lowers_its_loss(path: Path, umls: KnowledgeGraph) -> None:
    training = build("training", composed(path))
    assert isinstance(training, Training)
    short = dataclasses.replace(training.fit, max_epochs=3, validate_every=3)
    few = dataclasses.replace(umls, train=umls.train[::3])
    info = train(few, new_transe(umls), training.objective, dataclasses.replace(training, fit=short))
    assert info["history"][-1]["loss"] < info["history"][0]["loss"]


@each("netemb")
def test_rows_are_distributions_and_draws_come_from_them(path: Path, umls_network: Network) -> None:
    embedding = build("netemb", composed(path))
    assert isinstance(embedding, NetworkEmbedding)
    for network in (network_of(5, (0, 1), (1, 2), (0, 2), (2, 3)), umls_network):
        nodes = torch.arange(network.n_nodes)
        embedding.neighborhood.fit(network, seed=0)
        rows = NeighborRows(embedding.neighborhood, network)[nodes]
        assert (rows >= 0).all()
        assert not rows.diagonal().any()
        torch.testing.assert_close(rows.sum(1), (~network.isolated).float())
        drawn = embedding.neighborhood.sample(nodes.repeat(50), torch.Generator().manual_seed(0))
        alone = network.isolated.repeat(50)
        assert (drawn[alone] == -1).all()
        assert (rows[nodes.repeat(50)[~alone], drawn[~alone]] > 0).float().mean() > 0.9  # A corpus is finite.


@pytest.mark.parametrize("objective", ["exact", "sampled"])
@each("netemb")
def test_a_network_is_learned_the_same_each_time(path: Path, objective: str, umls_network: Network) -> None:
    quick = Learner(dim=8, objective=objective, min_epochs=1, min_steps=20)
    found = []
    for _ in range(2):
        embedding = dataclasses.replace(build("netemb", composed(path)), learner=quick)
        torch.manual_seed(0)
        vectors, notes = embedding.fit(umls_network, trainer, seed=0)
        found.append(vectors)
        assert json.dumps(notes)
    assert found[0].shape == (umls_network.n_nodes, 8)
    assert torch.isfinite(found[0]).all()
    assert torch.equal(*found)


class Retrainer:
    """Re-trains as a job does."""

    inverse_temperature = OBJECTIVE.inverse_temperature

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg

    def __call__(
        self, model: KGEModel, callback: Callback, *, lr_factor: float, max_epochs: int, patience: int
    ) -> dict[str, Any]:
        chosen = settings().for_retraining(lr_factor, max_epochs, patience)
        return train(self.kg, model, OBJECTIVE, chosen, callbacks=(callback,), from_start=True)


@pytest.fixture(scope="module")
def baseline(umls: KnowledgeGraph) -> KGEModel:
    model = new_transe(umls)
    train(umls, model, OBJECTIVE, settings(max_epochs=4))
    return model


@each("infusion")
def test_an_infusion_keeps_its_contract(
    path: Path, umls: KnowledgeGraph, umls_network: Network, baseline: KGEModel
) -> None:
    torch.manual_seed(5)
    space = NetworkSpace(umls_network, torch.randn(umls.n_entities, 8))
    infusion = build("infusion", composed(path))
    assert isinstance(infusion, Infusion)
    infusion.check(umls.n_entities, 1)
    validation = LinkPrediction(umls, "valid", ("filtered",))
    before = validation.mrr(baseline)
    model, notes = infusion.fit(copy.deepcopy(baseline), space, validation, Retrainer(umls))

    selection = notes["selection"]
    assert {"chosen", "kept", "valid_mrr_baseline", "valid_mrr_infused"} <= set(selection)
    assert selection["valid_mrr_baseline"] == pytest.approx(before)
    assert notes["valid_mrr"] == selection["valid_mrr_infused"]
    assert isinstance(selection["chosen"], str)
    assert isinstance(infusion.is_control, bool)
    if not selection["kept"]:
        assert validation.mrr(model) == pytest.approx(before)

    read = infusion.rebuild(new_transe(umls), json.loads(json.dumps(notes)), umls)
    read.load_state_dict(model.state_dict())
    head, relation = umls.test[:9, 0], umls.test[:9, 1]
    assert torch.equal(read.score_tails(head, relation), model.score_tails(head, relation))
