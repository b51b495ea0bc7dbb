import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from mohone.core.errors import ConfigError
from mohone.graph.heat_kernel import HeatKernel, chebyshev_coefficients
from mohone.graph.network import Network
from tests.helpers.graphs import network_of

graphs = st.builds(
    lambda n, edges: network_of(n, *[(a % n, b % n) for a, b in edges]),
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30),
)


def dense_kernel(network: Network, scale: float, laplacian: str) -> np.ndarray:
    """The kernel by scipy's dense matrix exponential of the written-out Laplacian."""
    adjacency = np.zeros((network.n_nodes, network.n_nodes))
    adjacency[network.source, network.target] = 1.0 if network.weight is None else network.weight
    degrees = adjacency.sum(1)
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    if laplacian == "random_walk":
        walk = inverse[:, None] * adjacency
    else:
        walk = np.sqrt(inverse)[:, None] * adjacency * np.sqrt(inverse)[None, :]
    return expm(-scale * (np.diag((degrees > 0).astype(float)) - walk))


@given(graphs, st.sampled_from([0.0, 0.3, 1.0, 5.0, 40.0]), st.sampled_from(["random_walk", "symmetric"]))
def test_rows_equal_the_matrix_exponential(network: Network, scale: float, laplacian: str) -> None:
    rows = HeatKernel(network, scale, laplacian).rows(torch.arange(network.n_nodes))
    np.testing.assert_allclose(rows, dense_kernel(network, scale, laplacian), atol=1e-5)


@given(graphs, st.sampled_from([0.0, 5.0, 1000.0]))
def test_random_walk_rows_are_distributions(network: Network, scale: float) -> None:
    rows = HeatKernel(network, scale).rows(torch.arange(network.n_nodes))
    assert torch.isfinite(rows).all()
    assert (rows >= 0).all()
    torch.testing.assert_close(rows.sum(1), torch.ones(network.n_nodes))


@given(graphs, st.sampled_from(["random_walk", "symmetric"]))
def test_a_list_of_scales_is_the_mean_of_the_kernels(network: Network, laplacian: str) -> None:
    rows = HeatKernel(network, [0.5, 5.0], laplacian).rows(torch.arange(network.n_nodes))
    wanted = (dense_kernel(network, 0.5, laplacian) + dense_kernel(network, 5.0, laplacian)) / 2
    np.testing.assert_allclose(rows, wanted, atol=1e-5)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40), st.booleans())
def test_edges_may_have_weights(edges: list[tuple[int, int]], symmetric: bool) -> None:
    laplacian = "symmetric" if symmetric else "random_walk"
    pairs = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2)
    network = Network.from_edges(pairs[:, 0], pairs[:, 1], 8, "count")
    rows = HeatKernel(network, 2.0, laplacian).rows(torch.arange(8))
    np.testing.assert_allclose(rows, dense_kernel(network, 2.0, laplacian), atol=1e-5)


def test_a_large_star_stays_small() -> None:
    hub = torch.zeros(20_000, dtype=torch.int64)
    network = Network.from_edges(hub, torch.arange(1, 20_001), 20_001)
    rows = HeatKernel(network, 5.0).rows(torch.tensor([0, 1, 20_000]))
    # Heat is at the hub with chance (1 + e^-2s) / 2 after starting there.
    assert rows[0, 0].item() == pytest.approx((1 + np.exp(-10)) / 2, abs=1e-5)
    torch.testing.assert_close(rows.sum(1), torch.ones(3))


def test_path_and_an_isolated_node_as_worked_out_by_hand() -> None:
    network = network_of(4, (0, 1), (1, 2))
    symmetric = HeatKernel(network, 1.0, "symmetric").rows(torch.arange(4))
    wanted = torch.tensor([0.4678, 0.5677, 0.4678, 1.0])
    torch.testing.assert_close(symmetric.diagonal(), wanted, atol=1e-4, rtol=0)
    torch.testing.assert_close(symmetric[0, 1:3], torch.tensor([0.3057, 0.0999]), atol=1e-4, rtol=0)
    assert torch.equal(HeatKernel(network, 0.0).rows(torch.arange(4)), torch.eye(4))


def test_blocks_do_not_change_rows(umls_network: Network) -> None:
    kernel = HeatKernel(umls_network, 5.0)
    whole = kernel.rows(torch.arange(135))
    blocks = torch.cat([kernel.rows(nodes) for nodes in torch.arange(135).split(17)])
    torch.testing.assert_close(blocks, whole, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("scale", [0.0, 0.1, 5.0, 1000.0])
def test_coefficients_give_the_exponential(scale: float) -> None:
    x = np.linspace(-1, 1, 101)
    series = np.polynomial.chebyshev.chebval(x, chebyshev_coefficients(scale, 1e-9))
    np.testing.assert_allclose(series, np.exp(-scale * (1 - x)), atol=1e-8)


def test_order_at_the_papers_scale() -> None:
    network = network_of(2, (0, 1))
    assert HeatKernel(network, 5.0, tolerance=1e-6).order == 12


def test_bad_values_are_refused() -> None:
    network = network_of(2, (0, 1))
    with pytest.raises(ConfigError, match=r"`scale` must be >= 0, but is -1\."):
        HeatKernel(network, -1.0)
    with pytest.raises(ConfigError, match="`scale` must have a value, but is empty"):
        HeatKernel(network, [])
    with pytest.raises(ConfigError, match="`laplacian` must be one of random_walk, symmetric"):
        HeatKernel(network, 1.0, "combinatorial")
