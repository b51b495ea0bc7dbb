import pytest
import torch

from mohone.errors import ConfigError
from mohone.graph.adjacency import Graph
from mohone.infusion.neighbors import nearest_neighbors
from mohone.netemb import SharedNeighborhood, StructuralRole
from mohone.netemb.module import LearnSettings, NetworkEmbedding, learn
from mohone.netemb.neighborhood import Neighborhood
from tests.conftest import network_of
from tests.kge.test_fit import trainer
from tests.netemb.test_neighborhoods import barbell

QUICK = LearnSettings(dim=8, lr=0.05, batch_size=16, min_epochs=1, min_steps=150)


def embed(graph: Graph, neighborhood: Neighborhood) -> torch.Tensor:
    torch.manual_seed(0)
    return learn(graph, neighborhood, trainer, QUICK, seed=0)[0]


def test_loss_is_the_cross_entropy_by_a_loop() -> None:
    graph = network_of(5, (0, 1), (1, 2), (2, 3))
    neighborhood = SharedNeighborhood(2.0)
    neighborhood.prepare(graph)
    module = NetworkEmbedding(neighborhood, 5, 3, lr=0.1)
    total = 0.0
    for u in (0, 3):
        scores = [float((module.vectors[u] * module.vectors[v]).sum()) for v in range(5)]
        normaliser = float(torch.logsumexp(torch.tensor(scores), 0))
        row = neighborhood.rows(torch.tensor([u]))[0].tolist()
        total -= sum(weight * (score - normaliser) for weight, score in zip(row, scores, strict=True))
    assert module.training_step(torch.tensor([0, 3]), 0).item() == pytest.approx(total / 2, rel=1e-5)


def test_loss_falls_towards_the_entropy_of_the_rows(umls_network: Graph) -> None:
    torch.manual_seed(0)
    neighborhood = SharedNeighborhood(5.0)
    settings = LearnSettings(dim=32, lr=0.03, batch_size=64, min_epochs=1, min_steps=300)
    _, history = learn(umls_network, neighborhood, trainer, settings, seed=0)
    rows = neighborhood.rows(torch.arange(135))[~umls_network.isolated]
    floor = float(torch.special.entr(rows).sum(1).mean())
    assert floor <= history[-1]["loss"] < floor + 0.05 < history[0]["loss"]


def test_shnb_brings_a_bell_together() -> None:
    vectors = embed(barbell(5, 3), SharedNeighborhood(2.0))
    nearest = nearest_neighbors(vectors, 3)
    for u in (0, 1, 2, 3):
        assert set(nearest[u].tolist()) <= {0, 1, 2, 3, 4}


@pytest.mark.parametrize("neighborhood", [SharedNeighborhood(5.0), StructuralRole(5.0)])
def test_isolated_nodes_stay_finite(neighborhood: Neighborhood) -> None:
    vectors = embed(network_of(4, (0, 1), (1, 2), (0, 2)), neighborhood)
    assert vectors.shape == (4, 8)
    assert torch.isfinite(vectors).all()


def test_a_graph_without_edges_learns_nothing() -> None:
    assert torch.isfinite(embed(network_of(3), SharedNeighborhood(5.0))).all()


def test_same_seed_same_vectors(umls_network: Graph) -> None:
    one, other = (embed(umls_network, SharedNeighborhood(5.0)) for _ in range(2))
    assert torch.equal(one, other)


def test_small_graphs_get_many_epochs_and_large_ones_a_few(umls_network: Graph) -> None:
    settings = LearnSettings(dim=2, lr=0.01, batch_size=10, min_epochs=3, min_steps=1)
    assert len(learn(umls_network, SharedNeighborhood(1.0), trainer, settings, seed=0)[1]) == 3
    settings = LearnSettings(dim=2, lr=0.01, batch_size=1000, min_epochs=3, min_steps=5)
    assert len(learn(umls_network, SharedNeighborhood(1.0), trainer, settings, seed=0)[1]) == 5


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`netemb.dim` must be an integer >= 1, but is 0\."):
        LearnSettings(dim=0, lr=0.01, batch_size=16, min_epochs=1, min_steps=1)
