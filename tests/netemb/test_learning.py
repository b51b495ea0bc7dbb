import math
from dataclasses import replace
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from mohone.core.errors import ConfigError, TrainingError
from mohone.core.nearest import nearest_neighbors
from mohone.graph.barbell import barbell
from mohone.graph.network import Network
from mohone.netemb import DeepWalk, Node2Vec, SharedNeighborhood, StructuralRole
from mohone.netemb.exact import ExactObjective, NodeBatches
from mohone.netemb.learn import Learner, learn
from mohone.netemb.neighborhood import Neighborhood
from mohone.netemb.pairs import PairBatch, PairBatches
from mohone.netemb.rows import NeighborRows
from mohone.netemb.sampled import SampledObjective, adagrad_step
from tests.helpers.graphs import network_of
from tests.helpers.training import trainer
from tests.netemb.test_neighborhoods import rows_of

QUICK = Learner(
    dim=8,
    objective="exact",
    lr=0.05,
    batch_size=16,
    min_epochs=1,
    min_steps=150,
    sampled_lr=0.3,
    sampled_batch_size=16,
    n_draws=8,
    n_negatives=32,
)
SAMPLED = replace(QUICK, objective="sampled")


def embed(network: Network, neighborhood: Neighborhood, settings: Learner = QUICK) -> torch.Tensor:
    torch.manual_seed(0)
    return learn(network, neighborhood, trainer, settings, seed=0)[0]


def test_loss_is_the_cross_entropy_by_a_loop() -> None:
    network = network_of(5, (0, 1), (1, 2), (2, 3))
    neighborhood = SharedNeighborhood(2.0)
    neighborhood.fit(network, seed=0)
    rows = NeighborRows(neighborhood, network)
    module = ExactObjective(rows, 5, 3, lr=0.1)
    total = 0.0
    for u in (0, 3):
        scores = [float((module.vectors[u] * module.vectors[v]).sum()) for v in range(5)]
        normaliser = float(torch.logsumexp(torch.tensor(scores), 0))
        row = rows[torch.tensor([u])][0].tolist()
        total -= sum(weight * (score - normaliser) for weight, score in zip(row, scores, strict=True))
    assert module.training_step(torch.tensor([0, 3]), 0).item() == pytest.approx(total / 2, rel=1e-5)


def test_loss_falls_towards_the_entropy_of_the_rows(umls_network: Network) -> None:
    torch.manual_seed(0)
    neighborhood = SharedNeighborhood(5.0)
    settings = replace(QUICK, dim=32, lr=0.03, batch_size=64, min_steps=300)
    _, history = learn(umls_network, neighborhood, trainer, settings, seed=0)
    rows = rows_of(neighborhood, umls_network)[~umls_network.isolated]
    floor = float(torch.special.entr(rows).sum(1).mean())
    assert floor <= history[-1]["loss"] < floor + 0.05 < history[0]["loss"]


def test_shnb_brings_a_bell_together() -> None:
    vectors = embed(barbell(5, 3)[0], SharedNeighborhood(2.0))
    nearest = nearest_neighbors(vectors, 3).rows
    for u in (0, 1, 2, 3):
        assert set(nearest[u].tolist()) <= {0, 1, 2, 3, 4}


EVERY = [SharedNeighborhood(5.0), StructuralRole(5.0), Node2Vec(2.0, 0.5), DeepWalk()]


@pytest.mark.parametrize("settings", [QUICK, SAMPLED])
@pytest.mark.parametrize("neighborhood", EVERY)
def test_small_graphs_have_finite_rows(neighborhood: Neighborhood, settings: Learner) -> None:
    for n, edges in ((4, [(0, 1), (1, 2), (0, 2)]), (2, [(0, 1)]), (3, [])):
        vectors = embed(network_of(n, *edges), neighborhood, replace(settings, min_steps=3))
        assert vectors.shape == (n, 8)
        assert torch.isfinite(vectors).all()


@pytest.mark.parametrize("settings", [QUICK, SAMPLED])
def test_same_seed_same_vectors(umls_network: Network, settings: Learner) -> None:
    first = embed(umls_network, Node2Vec(), settings)
    assert torch.equal(embed(umls_network, Node2Vec(), settings), first)
    n_threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert torch.equal(embed(umls_network, Node2Vec(), settings), first)
    finally:
        torch.set_num_threads(n_threads)


@pytest.mark.parametrize(
    ("n", "size", "sizes"),
    [(135, 16, [16] * 7 + [23]), (30, 10, [10] * 3), (28, 16, [16, 12]), (7, 16, [7]), (9, 4, [4, 5])],
)
def test_a_few_nodes_at_the_end_belong_to_the_batch_before(n: int, size: int, sizes: list[int]) -> None:
    ring = network_of(n, *((u, (u + 1) % n) for u in range(n)))
    batches = NodeBatches(ring, size, torch.Generator().manual_seed(0))
    passed = list(batches)
    assert [len(nodes) for nodes in passed] == sizes
    assert len(batches) == len(sizes)
    assert torch.cat(passed).sort().values.tolist() == list(range(n))


def test_gradients_of_the_sampled_loss_by_autograd() -> None:
    torch.manual_seed(0)
    module = SampledObjective(9, 4, lr=0.1)
    batch = PairBatch(
        torch.tensor([2, 0, 5]),
        torch.tensor([[1, 5, -1, 1], [3, 3, 8, 2], [-1, -1, -1, -1]]),
        torch.tensor([7, 5, 7, 0, 2]),
        torch.randn(5),
    )
    table = module.vectors.detach().double().requires_grad_()
    total = table.new_zeros(())
    for u, draws in zip(batch.nodes.tolist(), batch.draws.tolist(), strict=True):
        present = [v for v in draws if v >= 0]
        rest = sum(
            torch.exp(table[u] @ table[n] - odd)
            for n, odd in zip(batch.negatives.tolist(), batch.odds.tolist(), strict=True)
        )
        for v in present:
            score = torch.exp(table[u] @ table[v])
            total = total - torch.log(score / (score + rest)) / len(present)
    total.backward()
    loss, own, pulls, negative = module.gradients(batch)
    assert loss == pytest.approx(total.item() / 3, rel=1e-5)
    gradient = torch.zeros(9, 4)
    gradient.index_add_(0, batch.nodes, own)
    gradient.index_add_(0, batch.negatives, negative)
    for i, draws in enumerate(batch.draws.tolist()):
        for j, v in enumerate(draws):
            if v >= 0:
                gradient[v] += pulls[i, j] * module.vectors[batch.nodes[i]]
    torch.testing.assert_close(gradient.double(), table.grad, atol=1e-5, rtol=1e-4)


def test_a_step_is_row_wise_adagrads_on_the_touched_rows(umls_network: Network) -> None:
    torch.manual_seed(0)
    neighborhood = SharedNeighborhood(5.0)
    neighborhood.fit(umls_network, seed=0)
    batches = PairBatches(neighborhood, umls_network, 40, 4, 16, torch.Generator().manual_seed(0))
    module = SampledObjective(135, 8, lr=0.1)
    table, squares = module.vectors.detach().clone(), torch.zeros(135, 1)
    for batch in list(batches)[:3]:
        _, own, pulls, negative = module.gradients(batch)
        gradient = torch.zeros(135, 8)
        gradient.index_add_(0, batch.nodes, own).index_add_(0, batch.negatives, negative)
        nodes = module.vectors.detach()[batch.nodes]
        each = (pulls[:, :, None] * nodes[:, None, :]).reshape(-1, 8)
        gradient.index_add_(0, batch.draws.flatten(), each)
        adagrad_step(module.vectors.data, module.squares, batch, own, pulls, negative, 0.1)
        squares += gradient.square().mean(1, keepdim=True)
        table -= 0.1 * gradient / (squares.sqrt() + 1e-10)
        torch.testing.assert_close(module.vectors.detach(), table, atol=1e-5, rtol=1e-4)


def test_negatives_are_counted_by_their_odds(umls_network: Network) -> None:
    neighborhood = SharedNeighborhood(5.0)
    neighborhood.fit(umls_network, seed=0)
    batches = PairBatches(neighborhood, umls_network, 16, 1, 2000, torch.Generator().manual_seed(0))
    values = torch.randn(135).exp()
    means = [float((values[b.negatives] / b.odds.exp()).sum()) for b in list(batches)]
    assert sum(means) / len(means) == pytest.approx(float(values.sum()), rel=0.03)


@pytest.mark.parametrize("neighborhood", EVERY)
def test_both_objectives_learn_the_same(neighborhood: Neighborhood, umls_network: Network) -> None:
    rows = rows_of(neighborhood, umls_network)[~umls_network.isolated]
    losses = []
    for settings in (QUICK, SAMPLED):
        settings = replace(settings, dim=32, lr=0.03, batch_size=64, min_steps=400)
        settings = replace(settings, sampled_batch_size=64, n_draws=16, n_negatives=128)
        vectors = embed(umls_network, neighborhood, settings)
        scores = (vectors @ vectors.T)[~umls_network.isolated]
        losses.append(float(torch.nn.functional.cross_entropy(scores, rows)))
    floor = float(torch.special.entr(rows).sum(1).mean())
    even = math.log(umls_network.n_nodes)
    assert losses[1] - floor < 0.4 * (even - floor)
    assert losses[1] - losses[0] < 0.3 * (even - floor)


def test_large_graphs_are_sampled() -> None:
    assert QUICK.objective_for(50_000) == "exact"
    assert replace(QUICK, objective="auto").objective_for(50_000) == "exact"
    assert replace(QUICK, objective="auto").objective_for(50_001) == "sampled"
    with pytest.raises(
        ConfigError, match=r"`netemb\.objective` must be sampled or auto beyond 50,000 entities"
    ):
        QUICK.objective_for(50_001)


def test_a_broken_sampled_training_stops(umls_network: Network) -> None:
    n_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(TrainingError, match=r"must be finite, but is .* lower `netemb.sampled_lr`"):
            embed(umls_network, SharedNeighborhood(5.0), replace(SAMPLED, sampled_lr=1e20))
        assert torch.get_num_threads() == 2  # Learning had taken one for itself.
    finally:
        torch.set_num_threads(n_threads)


def test_draws_are_learned_from_in_full_precision_alone(umls_network: Network) -> None:
    def mixed(*labels: Any, **arguments: Any) -> pl.Trainer:
        return trainer(*labels, **{"precision": "bf16-mixed", **arguments})

    torch.manual_seed(0)
    found, _ = learn(umls_network, SharedNeighborhood(5.0), mixed, SAMPLED, seed=0)
    assert torch.equal(found, embed(umls_network, SharedNeighborhood(5.0), SAMPLED))


def test_small_graphs_get_many_epochs_and_large_ones_a_few(umls_network: Network) -> None:
    settings = replace(QUICK, dim=2, batch_size=10, min_epochs=3, min_steps=1)
    assert len(learn(umls_network, SharedNeighborhood(1.0), trainer, settings, seed=0)[1]) == 3
    settings = replace(QUICK, dim=2, batch_size=1000, min_epochs=3, min_steps=5)
    assert len(learn(umls_network, SharedNeighborhood(1.0), trainer, settings, seed=0)[1]) == 5


@pytest.mark.parametrize("settings", [QUICK, SAMPLED])
def test_passes_in_epochs_of_several_are_those_of_epochs_of_one(
    umls_network: Network, settings: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(
        settings, batch_size=60, sampled_batch_size=60, min_steps=130
    )  # 44 passes of 3 batches.

    def learned() -> tuple[torch.Tensor, list[dict[str, float]]]:
        torch.manual_seed(0)
        return learn(umls_network, Node2Vec(), trainer, settings, seed=0)

    several, history = learned()
    monkeypatch.setattr("mohone.netemb.learn._BATCHES", 1)
    each, longer = learned()
    assert (len(history), len(longer)) == (22, 44)
    assert torch.equal(several, each)
    assert history[0]["loss"] == pytest.approx((longer[0]["loss"] + longer[1]["loss"]) / 2)


def test_a_tiny_graph_is_learned_in_few_steps_as_well_as_in_many() -> None:
    """Whole rows of a graph of 20 nodes: a fifth of the steps, the same loss; see `Learner.min_steps`."""
    ring = network_of(20, *((u, (u + 1) % 20) for u in range(20)), (0, 10), (3, 8), (15, 5), (12, 18))
    settings = replace(QUICK, dim=32, lr=0.01, batch_size=256, min_steps=1000)
    losses = []
    for chosen in (settings, replace(settings, min_steps=5000)):
        torch.manual_seed(0)
        _, history = learn(ring, SharedNeighborhood(5.0), trainer, chosen, seed=0)
        losses.append(history[-1]["loss"])
        assert len(history) == 20
    assert losses[0] == pytest.approx(losses[1], abs=0.01)
    assert settings.steps_for(20) == 200


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`netemb.dim` must be an integer >= 1, but is 0\."):
        replace(QUICK, dim=0)
