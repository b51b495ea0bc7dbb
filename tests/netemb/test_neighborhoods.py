import math

import numpy as np
import pytest
import torch

from mohone.errors import ConfigError
from mohone.graph.adjacency import Graph
from mohone.graph.divergence import jensen_shannon, log_histograms
from mohone.graph.heat_kernel import HeatKernel
from mohone.netemb import SharedNeighborhood, StructuralRole
from mohone.netemb.neighborhood import Neighborhood
from mohone.netemb.struct import standardised_weights
from tests.conftest import network_of


def barbell(clique: int, path: int) -> Graph:
    """Two cliques joined by a path: the graph of the paper's figure 3."""
    left, right = range(clique), range(clique + path, 2 * clique + path)
    edges = [(a, b) for bell in (left, right) for a in bell for b in bell if a < b]
    edges += [(a, a + 1) for a in range(clique - 1, clique + path)]
    return network_of(2 * clique + path, *edges)


@pytest.mark.parametrize("neighborhood", [SharedNeighborhood(5.0), StructuralRole(5.0)])
def test_rows_are_distributions_without_the_node(neighborhood: Neighborhood, umls_network: Graph) -> None:
    neighborhood.prepare(umls_network)
    rows = neighborhood.rows(torch.arange(135))
    torch.testing.assert_close(rows.sum(1), torch.ones(135))
    assert (rows >= 0).all()
    assert (rows.diagonal() == 0).all()


def test_shnb_is_the_heat_kernel_without_its_diagonal(umls_network: Graph) -> None:
    neighborhood = SharedNeighborhood(5.0)
    neighborhood.prepare(umls_network)
    kernel = HeatKernel(umls_network, 5.0).rows(torch.arange(135)).numpy()
    np.fill_diagonal(kernel, 0.0)
    np.testing.assert_allclose(
        neighborhood.rows(torch.arange(135)), kernel / kernel.sum(1, keepdims=True), atol=1e-6
    )


def test_struct_as_its_docstring_says_by_a_loop() -> None:
    graph = network_of(7, (0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6))
    neighborhood = StructuralRole(2.0, n_bins=16, temperature=0.7)
    neighborhood.prepare(graph)
    histograms = log_histograms(HeatKernel(graph, 2.0).rows(torch.arange(7)), 16)
    divergence = jensen_shannon(histograms, histograms).double().numpy()
    for u in range(7):
        others = [v for v in range(7) if v != u]
        values = divergence[u, others]
        weights = np.exp(-(values - values.mean()) / values.std() / 0.7)
        np.testing.assert_allclose(
            neighborhood.rows(torch.tensor([u]))[0, others], weights / weights.sum(), rtol=1e-3
        )


def test_equal_roles_have_equal_divergences() -> None:
    graph = network_of(4, (0, 1), (1, 2))
    neighborhood = StructuralRole(1.0)
    neighborhood.observe(graph)
    histograms = neighborhood._histograms
    assert torch.equal(histograms[0], histograms[2])
    assert not torch.equal(histograms[0], histograms[1])


def test_struct_tells_the_roles_of_a_barbell() -> None:
    graph = barbell(5, 3)
    neighborhood = StructuralRole(5.0)
    neighborhood.prepare(graph)
    rows = neighborhood.rows(torch.arange(13))
    # The middle of a bell is nearest to the other middles, of its own bell and of the other.
    middles = [0, 1, 2, 3, 9, 10, 11, 12]
    for u in middles:
        nearest = rows[u].topk(len(middles) - 1).indices.tolist()
        assert sorted(nearest) == [v for v in middles if v != u]


def test_equal_divergences_give_even_weights() -> None:
    weights = standardised_weights(torch.zeros(2, 4), torch.tensor([0, 1]), 1.0)
    assert weights.tolist() == [[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]]


@pytest.mark.parametrize("neighborhood", [SharedNeighborhood(5.0), StructuralRole(5.0)])
def test_isolated_nodes_have_empty_rows(neighborhood: Neighborhood) -> None:
    neighborhood.prepare(network_of(4, (0, 1), (1, 2), (0, 2)))
    rows = neighborhood.rows(torch.arange(4))
    assert rows[3].tolist() == [0.0] * 4
    torch.testing.assert_close(rows[:3].sum(1), torch.ones(3))


@pytest.mark.parametrize("edges", [(), ((0, 1),)])
def test_graphs_of_nearly_nothing(edges: tuple[tuple[int, int], ...]) -> None:
    for neighborhood in (SharedNeighborhood(1.0), StructuralRole(1.0)):
        neighborhood.prepare(network_of(2, *edges))
        assert torch.isfinite(neighborhood.rows(torch.arange(2))).all()


def test_large_graphs_are_refused() -> None:
    with pytest.raises(ConfigError, match="at most 50,000 entities, but there are 50,001"):
        SharedNeighborhood(1.0).prepare(network_of(50_001, (0, 1)))


def test_float16_is_near_enough(monkeypatch: pytest.MonkeyPatch, umls_network: Graph) -> None:
    exact, short = SharedNeighborhood(5.0), SharedNeighborhood(5.0)
    exact.prepare(umls_network)
    monkeypatch.setattr("mohone.netemb.neighborhood._FLOAT32_LIMIT", 0)
    short.prepare(umls_network)
    nodes = torch.arange(135)
    assert math.isclose(float(short.rows(nodes).sum()), 135, rel_tol=1e-3)
    torch.testing.assert_close(short.rows(nodes), exact.rows(nodes), atol=1e-5, rtol=1e-3)
