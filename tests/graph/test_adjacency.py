import numpy as np
import torch
from scipy import sparse

from mohone.data import KnowledgeGraph
from mohone.graph.adjacency import Graph, csr_matrix, spmm
from tests.conftest import network_of


def test_graph_is_plain_and_undirected() -> None:
    graph = network_of(5, (0, 1), (1, 0), (0, 1), (2, 2), (1, 3))
    assert graph.n_edges == 2
    assert list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 3),
        (3, 1),
    ]
    assert graph.degrees.tolist() == [1, 2, 0, 1, 0]
    assert graph.isolated.tolist() == [False, False, True, False, True]


def test_graph_without_edges() -> None:
    graph = network_of(3)
    assert graph.n_edges == 0
    assert graph.isolated.all()


def test_only_train_makes_the_graph(umls: KnowledgeGraph, umls_network: Graph) -> None:
    pairs = {(min(h, t), max(h, t)) for h, _, t in umls.train.tolist() if h != t}
    assert umls_network.n_edges == len(pairs)


def test_product_equals_scipy() -> None:
    generator = torch.Generator().manual_seed(0)
    dense = torch.randn(30, 30, generator=generator) * (torch.rand(30, 30, generator=generator) < 0.2)
    row, column = dense.nonzero().T
    order = torch.randperm(len(row), generator=generator)
    row, column = row[order], column[order]
    matrix = csr_matrix(row, column, dense[row, column], 30)
    right = torch.randn(30, 7, generator=generator)
    wanted = sparse.csr_matrix(dense.numpy()) @ right.numpy()
    np.testing.assert_allclose(spmm(matrix, right), wanted, atol=1e-5)
