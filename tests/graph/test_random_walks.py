from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from mohone.graph import random_walks
from mohone.graph.cooccurrence import Cooccurrence
from mohone.graph.heat_kernel import HeatKernel
from mohone.graph.network import Network
from mohone.graph.random_walks import poisson_lengths, walk_ends, walks, window_lengths
from tests.helpers.graphs import network_of

N_DRAWS = 60_000
# A triangle with a tail, a square, and a node of its own.
SMALL = network_of(8, (0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 3))


def counted(edges: list[tuple[int, int]], n_nodes: int) -> Network:
    pairs = torch.tensor(edges)
    return Network.from_edges(pairs[:, 0], pairs[:, 1], n_nodes, "count")


WEIGHTED = counted([(0, 1), (0, 1), (0, 1), (1, 2), (0, 2), (2, 3), (3, 2), (3, 4), (4, 5), (5, 3)], 7)


def fits(drawn: torch.Tensor, wanted: np.ndarray) -> bool:
    """Does a chi-square test find the draws to be of this distribution?"""
    counts = np.bincount(drawn.numpy(), minlength=len(wanted))
    possible = wanted > 0
    assert counts[~possible].sum() == 0
    return float(chisquare(counts[possible], wanted[possible] * len(drawn)).pvalue) > 1e-3


@pytest.mark.parametrize("network", [SMALL, WEIGHTED])
@pytest.mark.parametrize("scales", [[5.0], [0.1], [40.0], [0.5, 6.0]])
def test_poisson_walks_draw_from_rows_of_the_heat_kernel(network: Network, scales: list[float]) -> None:
    kernel = HeatKernel(network, scales).rows(torch.arange(network.n_nodes)).double().numpy()
    for node in (0, 3):
        row = kernel[node].copy()
        row[node] = 0.0
        drawn = walk_ends(network, torch.full((N_DRAWS,), node), poisson_lengths(scales), key=node)
        row[row < 1e-9] = 0.0
        assert fits(drawn, row / row.sum())


@pytest.mark.parametrize("network", [SMALL, WEIGHTED])
@pytest.mark.parametrize("n", [1, 128, 300])
def test_walks_in_turn_are_those_one_after_the_other(network: Network, n: int) -> None:
    nodes, lengths = (torch.arange(n) % network.n_nodes).numpy(), poisson_lengths([3.0])
    found, expected = (np.full(n, -1) for _ in range(2))
    random_walks._first_order_ends(network.walkable, nodes, lengths, np.uint64(5), 0, n, found)
    random_walks._ends(network.walkable, nodes, lengths, 1.0, 1.0, np.uint64(5), 0, n, expected)
    assert (found == expected).all()
    assert (found >= 0).any()


def test_a_poisson_walk_is_no_other_walk() -> None:
    row = HeatKernel(SMALL, 5.0).rows(torch.tensor([0]))[0].double().numpy()
    row[0] = 0.0
    drawn = walk_ends(SMALL, torch.zeros(N_DRAWS, dtype=torch.int64), poisson_lengths([4.0]), key=1)
    assert not fits(drawn, row / row.sum())


def transition(network: Network, before: int, node: int, p: float, q: float) -> np.ndarray:
    """The written-out chances of the node after `before, node`."""
    weight = torch.ones(len(network.source)) if network.weight is None else network.weight
    edges = {
        (a, b): w
        for a, b, w in zip(network.source.tolist(), network.target.tolist(), weight.tolist(), strict=True)
    }
    odds = np.zeros(network.n_nodes)
    for (a, x), w in edges.items():
        if a == node:
            odds[x] = w * (1 / p if x == before else 1.0 if (before, x) in edges else 1 / q)
    return odds / odds.sum()


@pytest.mark.parametrize("network", [SMALL, WEIGHTED])
@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.25), (1.0, 1.0)])
def test_second_order_walks_by_the_written_out_chances(network: Network, p: float, q: float) -> None:
    starts = (~network.isolated).nonzero().flatten().repeat(1500)
    corpus = walks(network, starts, 40, key=3, p=p, q=q)
    assert torch.equal(corpus[:, 0].long(), starts)
    triples = torch.stack([corpus[:, :-2], corpus[:, 1:-1], corpus[:, 2:]], 2).reshape(-1, 3).long()
    for before, node in [(0, 2), (2, 3), (3, 2), (4, 3), (5, 4)]:
        chosen = triples[(triples[:, 0] == before) & (triples[:, 1] == node), 2]
        assert fits(chosen, transition(network, before, node, p, q))


def test_walks_go_along_edges_from_all_nodes() -> None:
    corpus = walks(WEIGHTED, torch.arange(6), 30, key=0)
    edges = set(zip(WEIGHTED.source.tolist(), WEIGHTED.target.tolist(), strict=True))
    assert all(step in edges for walk in corpus.tolist() for step in pairwise(walk))


def test_a_node_without_neighbors_has_no_end() -> None:
    assert walk_ends(SMALL, torch.tensor([7, 0]), poisson_lengths([5.0]), key=0).tolist()[0] == -1


def test_a_single_edge_always_ends_at_its_other_node() -> None:
    network = network_of(2, (0, 1))
    for scale in (1e-6, 5.0, 1000.0):
        ends = walk_ends(network, torch.tensor([0, 1] * 50), poisson_lengths([scale]), key=0)
        assert ends.tolist() == [1, 0] * 50


def test_neither_threads_nor_company_change_a_draw(umls_network: Network) -> None:
    nodes = (~umls_network.isolated).nonzero().flatten().repeat(10)
    lengths = poisson_lengths([5.0])
    n_threads = torch.get_num_threads()
    ends, corpus = walk_ends(umls_network, nodes, lengths, 7), walks(umls_network, nodes, 9, 7, 0.5, 2.0)
    try:
        torch.set_num_threads(1)
        assert torch.equal(walk_ends(umls_network, nodes, lengths, 7), ends)
        assert torch.equal(walks(umls_network, nodes, 9, 7, 0.5, 2.0), corpus)
        assert torch.equal(walk_ends(umls_network, nodes[:5], lengths, 7), ends[:5])
    finally:
        torch.set_num_threads(n_threads)
    assert not torch.equal(walk_ends(umls_network, nodes, lengths, 8), ends)


def test_lengths() -> None:
    np.testing.assert_allclose(np.diff(window_lengths(4), prepend=0.0), [0.4, 0.3, 0.2, 0.1])
    lengths = poisson_lengths([1.0])
    np.testing.assert_allclose(np.diff(lengths, prepend=0.0)[:3] * (np.e - 1), [1, 1 / 2, 1 / 6])
    assert lengths[-1] == pytest.approx(1.0, abs=1e-12)


def test_cooccurrence_equals_a_loop() -> None:
    generator = torch.Generator().manual_seed(0)
    corpus = torch.randint(6, (11, 9), generator=generator, dtype=torch.int32)
    wanted = np.zeros((7, 7))
    for walk in corpus.tolist():
        for i, u in enumerate(walk):
            for j, v in enumerate(walk):
                if 0 < abs(i - j) <= 3:
                    wanted[u, v] += 4 - abs(i - j)
    counts = Cooccurrence(corpus, 7, window=3)
    np.testing.assert_allclose(counts.rows(torch.arange(7)), wanted)
    np.testing.assert_allclose(counts.rows(torch.tensor([5, 1])), wanted[[5, 1]])
