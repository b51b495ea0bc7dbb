import sys

import numpy as np
import pytest
import torch
from scipy import sparse

from mohone.core.errors import ConfigError
from mohone.core.sparse import BACKENDS, csr_matrix, spmm, use_backend
from mohone.data import KnowledgeGraph
from mohone.graph.network import Network
from tests.helpers.graphs import network_of


def test_graph_is_plain_and_undirected() -> None:
    network = network_of(5, (0, 1), (1, 0), (0, 1), (2, 2), (1, 3))
    assert network.n_edges == 2
    assert list(zip(network.source.tolist(), network.target.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 3),
        (3, 1),
    ]
    assert network.degrees.tolist() == [1, 2, 0, 1, 0]
    assert network.isolated.tolist() == [False, False, True, False, True]


def test_graph_without_edges() -> None:
    network = network_of(3)
    assert network.n_edges == 0
    assert network.isolated.all()


def test_only_train_makes_the_graph(umls: KnowledgeGraph, umls_network: Network) -> None:
    pairs = {(min(h, t), max(h, t)) for h, _, t in umls.train.tolist() if h != t}
    assert umls_network.n_edges == len(pairs)


def test_weights_count_the_triples_of_two_entities() -> None:
    triples = torch.tensor([[0, 0, 1], [1, 1, 0], [0, 2, 1], [2, 0, 2], [1, 0, 3]])
    network = Network.from_triples(triples, 5, "count")
    assert network.source.tolist() == [0, 1, 1, 3]
    assert network.target.tolist() == [1, 0, 3, 1]
    assert network.weight is not None
    assert network.weight.tolist() == [3.0, 3.0, 1.0, 1.0]
    assert network.strengths.tolist() == [3.0, 4.0, 0.0, 1.0, 0.0]
    assert network.walkable.cumulative.tolist() == [3.0, 3.0, 4.0, 1.0]
    with pytest.raises(
        ConfigError, match=r"`network\.weighting` must be one of binary, count, weight, but is 'sum'"
    ):
        Network.from_triples(triples, 5, "sum")


def test_weights_of_the_triples_of_two_entities_add_up() -> None:
    triples = torch.tensor([[0, 0, 1], [1, 1, 0], [0, 2, 1], [2, 0, 2], [1, 0, 3]])
    weights = torch.tensor([0.5, 2.0, 1.0, 9.0, 0.25])
    network = Network.from_triples(triples, 5, "weight", weights)
    assert (network.source.tolist(), network.target.tolist()) == ([0, 1, 1, 3], [1, 0, 3, 1])
    assert network.weight is not None
    assert network.weight.tolist() == [3.5, 3.5, 0.25, 0.25]
    for weighting in ("binary", "count"):
        plain = Network.from_triples(triples, 5, weighting)
        assert str(Network.from_triples(triples, 5, weighting, weights)) == str(plain)
    whole = Network.from_triples(triples, 5, "weight", torch.ones(5))
    assert str(whole) == str(Network.from_triples(triples, 5, "count"))
    with pytest.raises(ConfigError, match="must have triples with weights, but these have none"):
        Network.from_triples(triples, 5, "weight")


@pytest.mark.parametrize("backend", BACKENDS)
def test_product_equals_scipy(backend: str) -> None:
    if backend == "torch_sparse":
        pytest.importorskip("torch_sparse")
    use_backend(backend)
    generator = torch.Generator().manual_seed(0)
    dense = torch.randn(30, 30, generator=generator) * (torch.rand(30, 30, generator=generator) < 0.2)
    row, column = dense.nonzero().T
    order = torch.randperm(len(row), generator=generator)
    row, column = row[order], column[order]
    matrix = csr_matrix(row, column, dense[row, column], 30)
    right = torch.randn(30, 7, generator=generator)
    wanted = sparse.csr_matrix(dense.numpy()) @ right.numpy()
    np.testing.assert_allclose(spmm(matrix, right), wanted, atol=1e-5)
    use_backend("torch")


def test_a_backend_that_is_none_or_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="`sparse` must be one of torch, torch_sparse, but is 'scipy'"):
        use_backend("scipy")
    monkeypatch.setitem(sys.modules, "torch_sparse", None)
    with pytest.raises(ConfigError, match="`sparse` must be torch where torch-sparse is not installed"):
        use_backend("torch_sparse")
