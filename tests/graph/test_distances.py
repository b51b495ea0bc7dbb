"""Distances of pairs against all shortest paths by scipy."""

import numpy as np
import pytest
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from mohone.graph.distances import distances
from mohone.graph.network import Network


@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize(("n", "n_edges"), [(30, 25), (60, 90), (3, 0)])
def test_distances_are_those_of_shortest_paths(n: int, n_edges: int, most: int) -> None:
    random = np.random.default_rng(n + most)
    head, tail = random.integers(0, n, (2, n_edges))
    network = Network.from_edges(torch.from_numpy(head), torch.from_numpy(tail), n)
    matrix = coo_array((np.ones(n_edges), (head, tail)), (n, n)).tocsr()
    wanted = np.minimum(shortest_path(matrix, directed=False, unweighted=True), most + 1)
    nodes, others = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T
    found = distances(network, nodes, others, most)
    assert torch.equal(found.view(n, n), torch.from_numpy(wanted).long())
