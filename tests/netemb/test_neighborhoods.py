import math

import numpy as np
import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.graph.barbell import barbell
from mohone.graph.divergence import HistogramDivergence, log_histograms
from mohone.graph.heat_kernel import HeatKernel
from mohone.graph.network import Network
from mohone.netemb import DeepWalk, NetworkEmbedding, Node2Vec, SharedNeighborhood, StructuralRole
from mohone.netemb.neighborhood import Neighborhood
from mohone.netemb.rows import NeighborRows
from mohone.netemb.struct import standardised_weights
from tests.helpers.graphs import network_of

SOME = [SharedNeighborhood(5.0), StructuralRole(5.0), Node2Vec(0.5, 2.0, 20, 5, 3), DeepWalk(20, 5, 3)]


def rows_of(neighborhood: Neighborhood, network: Network) -> torch.Tensor:
    neighborhood.fit(network, seed=0)
    return NeighborRows(neighborhood, network)[torch.arange(network.n_nodes)]


def test_shnb_is_the_heat_kernel_without_its_diagonal(umls_network: Network) -> None:
    kernel = HeatKernel(umls_network, 5.0).rows(torch.arange(135)).numpy()
    np.fill_diagonal(kernel, 0.0)
    rows = rows_of(SharedNeighborhood(5.0), umls_network)
    np.testing.assert_allclose(rows, kernel / kernel.sum(1, keepdims=True), atol=1e-6)


def test_struct_as_its_docstring_says_by_a_loop() -> None:
    network = network_of(7, (0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6))
    rows = rows_of(StructuralRole(2.0, n_bins=16, temperature=0.7), network)
    histograms = log_histograms(HeatKernel(network, 2.0).rows(torch.arange(7)), 16)
    divergence = HistogramDivergence(histograms).rows(torch.arange(7)).double().numpy()
    for u in range(7):
        others = [v for v in range(7) if v != u]
        values = divergence[u, others]
        weights = np.exp(-(values - values.mean()) / values.std() / 0.7)
        np.testing.assert_allclose(rows[u, others], weights / weights.sum(), rtol=1e-3)


def test_equal_roles_share_a_histogram() -> None:
    rows = rows_of(StructuralRole(1.0), network_of(4, (0, 1), (1, 2)))
    # a and c are each other's likes, and b is equally far from both.
    torch.testing.assert_close(rows[1, 0], rows[1, 2])
    torch.testing.assert_close(rows[0, [1, 3]], rows[2, [1, 3]])
    assert rows[0, 2] > rows[0, 1]


def test_struct_tells_the_roles_of_a_barbell() -> None:
    network, _ = barbell(5, 3)
    rows = rows_of(StructuralRole(5.0), network)
    # The middle of a bell is nearest to the other middles, of its own bell and of the other.
    middles = [0, 1, 2, 3, 9, 10, 11, 12]
    for u in middles:
        nearest = rows[u].topk(len(middles) - 1).indices.tolist()
        assert sorted(nearest) == [v for v in middles if v != u]


def test_equal_divergences_give_even_weights() -> None:
    weights = standardised_weights(torch.zeros(2, 4), torch.tensor([0, 1]), 1.0)
    assert weights.tolist() == [[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]]


@pytest.mark.parametrize("neighborhood", SOME)
def test_isolated_nodes_have_empty_rows(neighborhood: Neighborhood) -> None:
    rows = rows_of(neighborhood, network_of(4, (0, 1), (1, 2), (0, 2)))
    assert rows[3].tolist() == [0.0] * 4
    torch.testing.assert_close(rows[:3].sum(1), torch.ones(3))


@pytest.mark.parametrize("edges", [(), ((0, 1),)])
def test_graphs_of_nearly_nothing(edges: tuple[tuple[int, int], ...]) -> None:
    for neighborhood in (SharedNeighborhood(1.0), StructuralRole(1.0)):
        assert torch.isfinite(rows_of(neighborhood, network_of(2, *edges))).all()


def test_float16_is_near_enough(monkeypatch: pytest.MonkeyPatch, umls_network: Network) -> None:
    exact = rows_of(SharedNeighborhood(5.0), umls_network)
    monkeypatch.setattr("mohone.netemb.rows._FLOAT32_LIMIT", 0)
    short = rows_of(SharedNeighborhood(5.0), umls_network)
    assert math.isclose(float(short.sum()), 135, rel_tol=1e-3)
    torch.testing.assert_close(short, exact, atol=1e-5, rtol=1e-3)


def draws_of(neighborhood: Neighborhood, network: Network, node: int, n: int = 60_000) -> torch.Tensor:
    """How often a node draws each other: `(n_nodes,)`."""
    neighborhood.fit(network, seed=0)
    drawn = neighborhood.sample(torch.full((n,), node), torch.Generator().manual_seed(1))
    return torch.bincount(drawn, minlength=network.n_nodes) / n


@pytest.mark.parametrize(
    "neighborhood", [SharedNeighborhood([1.0, 5.0]), StructuralRole(5.0), DeepWalk(400, 200, 4)]
)
def test_draws_are_those_of_the_rows(neighborhood: Neighborhood) -> None:
    network, _ = barbell(5, 3)
    rows = rows_of(neighborhood, network)
    # The ends of DeepWalk's fresh walks are near its corpus, as the docstring says.
    tolerance = {SharedNeighborhood: 0.01, StructuralRole: 0.01, DeepWalk: 0.02}[type(neighborhood)]
    for node in (0, 4, 6):
        drawn = draws_of(neighborhood, network, node)
        assert drawn[node] == 0
        torch.testing.assert_close(drawn, rows[node], atol=tolerance, rtol=0)


def test_second_order_draws_are_near_the_rows() -> None:
    network, _ = barbell(5, 3)
    for p, q in ((0.25, 4.0), (4.0, 0.25)):
        neighborhood = Node2Vec(p, q, 400, 200, 4)
        rows = rows_of(neighborhood, network)
        for node in (0, 6):
            assert float((draws_of(neighborhood, network, node) - rows[node]).abs().sum()) < 0.25


@pytest.mark.parametrize("neighborhood", SOME)
def test_an_isolated_node_draws_nothing(neighborhood: Neighborhood) -> None:
    neighborhood.fit(network_of(4, (0, 1), (1, 2), (0, 2)), seed=0)
    drawn = neighborhood.sample(torch.tensor([3, 0]), torch.Generator())
    assert drawn[0] == -1
    assert drawn[1] in ({0: (1, 2), 1: (1, 2, 3)}[isinstance(neighborhood, StructuralRole)])


def test_the_symmetric_laplacian_has_no_walks() -> None:
    neighborhood = SharedNeighborhood(5.0, "symmetric")
    neighborhood.fit(network_of(2, (0, 1)), seed=0)
    with pytest.raises(
        ConfigError, match=r"`netemb\.laplacian` must be random_walk for the sampled objective"
    ):
        neighborhood.sample(torch.tensor([0]), torch.Generator())
    embedding = NetworkEmbedding(neighborhood)
    embedding.check(50_000)
    with pytest.raises(ConfigError, match="for the sampled objective, but is symmetric"):
        embedding.check(50_001)


def test_bad_walks_are_refused() -> None:
    for bad, message in (
        ({"p": 0.0}, r"`netemb.p` must be > 0, but is 0\."),
        ({"q": -1.0}, r"`netemb.q` must be > 0, but is -1\."),
        ({"walk_length": 1}, r"`netemb.walk_length` must be an integer >= 2, but is 1\."),
        ({"window": 0}, r"`netemb.window` must be an integer >= 1, but is 0\."),
    ):
        with pytest.raises(ConfigError, match=message):
            Node2Vec(**bad)  # type: ignore[arg-type]
