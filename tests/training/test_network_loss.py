import math

import torch

from mohone.graph.network import Network
from mohone.kge import ComplEx
from mohone.netemb.pairs import PairBatch
from mohone.netemb.shnb import SharedNeighborhood
from mohone.training.network_loss import NetworkLoss, pair_loss
from tests.helpers.graphs import network_of


def test_pair_loss_by_a_loop() -> None:
    torch.manual_seed(0)
    vectors, contexts, odds = torch.randn(3, 4).double(), torch.randn(6, 4).double(), torch.randn(2).double()
    draws, negatives = torch.tensor([[1, 2], [5, -1], [-1, -1]]), torch.tensor([0, 4])
    total = 0.0
    for u in range(3):
        rest = sum(math.exp(float(vectors[u] @ contexts[n] - odds[i])) for i, n in enumerate(negatives))
        own = []
        for v in draws[u].tolist():
            if v >= 0:
                gold = math.exp(float(vectors[u] @ contexts[v]))
                own.append(-math.log(gold / (gold + rest)))
        total += sum(own) / max(1, len(own))
    found = pair_loss(vectors, contexts, PairBatch(torch.arange(3), draws, negatives, odds))
    torch.testing.assert_close(float(found), total / 3)


def loss_on(network: Network, weight: float = 1.0) -> tuple[NetworkLoss, ComplEx]:
    torch.manual_seed(0)
    model = ComplEx(network.n_nodes, 1, 4, init_std=1.0)
    return NetworkLoss(weight, SharedNeighborhood(1.0), network, 8, seed=0), model


def test_it_pulls_entities_to_their_neighbourhoods() -> None:
    network = network_of(9, *[(i, j) for c in (0, 4) for i in range(c, c + 4) for j in range(c, i)])
    loss, model = loss_on(network)
    optimizer = torch.optim.Adam([*model.parameters(), *loss.parameters()], lr=0.05)
    before = model.entity.detach().clone()
    for _ in range(200):
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()
    chances = torch.softmax(model.entity.detach() @ loss.contexts.detach().T, 1)
    assert all(float(chances[u, c : c + 4].sum()) > 0.9 for c in (0, 4) for u in range(c, c + 4))
    assert torch.equal(model.entity[8], before[8])  # An isolated entity is not asked.


def test_its_draws_follow_the_global_generator_and_its_weight_is_a_factor() -> None:
    network = network_of(4, (0, 1), (1, 2), (2, 3))
    found = []
    for seed, weight in ((0, 1.0), (0, 1.0), (1, 1.0), (0, 0.5)):
        loss, model = loss_on(network, weight)
        loss.contexts.data.normal_(generator=torch.Generator().manual_seed(3))
        torch.manual_seed(seed)
        found.append(float(loss(model)))
    assert found[0] == found[1] != found[2]
    assert found[3] == 0.5 * found[0]


def test_a_network_without_edges_asks_nothing() -> None:
    loss, model = loss_on(network_of(3))
    assert float(loss(model)) == 0.0
