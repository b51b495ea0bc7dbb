"""What holds for every model: three ways to score agree, and gradients are right."""

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from mohone import kge
from mohone.core.errors import ConfigError
from mohone.kge import (
    RESCAL,
    Analogy,
    ComplEx,
    DistMult,
    KGEModel,
    TransD,
    TransE,
    TransH,
    TransR,
    Wrapped,
)
from mohone.kge.translation import TranslationModel

CONF = Path(__file__).parents[2] / "conf" / "kge_model"
Kind = tuple[type[KGEModel], dict[str, Any]]
MODELS: list[Kind] = [
    (TransE, {"norm": 2}),
    (TransE, {"norm": 1}),
    (TransE, {"norm": 2, "squared": True}),
    (TransE, {"norm": 1, "squared": True}),
    (TransH, {}),
    (TransH, {"squared": True}),
    (TransR, {"step_scale": 1.0}),
    (TransR, {"relation_dim": 2, "squared": True}),
    (TransR, {"relation_dim": 11}),
    (TransD, {}),
    (TransD, {"squared": True}),
    (RESCAL, {"init_std": 1.0}),
    (DistMult, {"init_std": 1.0}),
    (ComplEx, {"init_std": 1.0}),
    (Analogy, {"init_std": 1.0}),
]
shapes = st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 9), st.integers(1, 5))


def make(model: Kind, n: int, m: int, dim: int, reciprocal: bool = False) -> KGEModel:
    torch.manual_seed(n + 10 * m + 100 * dim)
    cls, arguments = model
    net = cls(n, m, dim + dim % 2 if cls is Analogy else dim, reciprocal=reciprocal, **arguments)
    if isinstance(net, TransR):  # Not the identities it starts with.
        net.projection.data.normal_()
    return net


def test_every_model_has_a_configuration_and_no_configuration_lacks_a_model() -> None:
    configured = {OmegaConf.load(path)["_target_"].rpartition(".")[2] for path in CONF.glob("*.yaml")}
    models = {
        name
        for name in kge.__all__
        if isinstance(cls := getattr(kge, name), type)
        and issubclass(cls, KGEModel)
        and not issubclass(cls, Wrapped)
        and cls is not KGEModel
    }
    assert configured == models == {cls.__name__ for cls, _ in MODELS}


@pytest.mark.parametrize("model", MODELS)
@given(shape=shapes)
def test_three_ways_to_score_agree(model: Kind, shape: tuple[int, int, int, int]) -> None:
    n, m, dim, batch = shape
    net = make(model, n, m, dim)
    head, tail = torch.randint(n, (batch,)), torch.randint(n, (batch,))
    relation = torch.randint(m, (batch,))
    alone = net.score_triples(head, relation, tail)
    tails, heads = net.score_tails(head, relation), net.score_heads(relation, tail)
    assert tails.shape == heads.shape == (batch, n)
    # A distance of nearly 0 is the root of a difference of squares: no more than half the digits are left.
    tolerance = 1e-5 if not isinstance(net, TranslationModel) else 2e-3
    torch.testing.assert_close(tails.gather(1, tail[:, None])[:, 0], alone, atol=tolerance, rtol=1e-5)
    torch.testing.assert_close(heads.gather(1, head[:, None])[:, 0], alone, atol=tolerance, rtol=1e-5)
    of_tails = net.score_pairs(net.tail_query(head, relation), tail)
    of_heads = net.score_pairs(net.head_query(relation, tail), head)
    torch.testing.assert_close(of_tails, alone, atol=tolerance, rtol=1e-5)
    torch.testing.assert_close(of_heads, alone, atol=tolerance, rtol=1e-5)
    some = torch.randint(n, (3,))
    torch.testing.assert_close(
        net.score_tails(head, relation, some), tails[:, some], atol=tolerance, rtol=1e-5
    )
    torch.testing.assert_close(
        net.score_heads(relation, tail, some), heads[:, some], atol=tolerance, rtol=1e-5
    )


@pytest.mark.parametrize("model", MODELS)
def test_three_ways_to_score_agree_to_five_digits(model: Kind) -> None:
    net = make(model, 200, 20, 50)
    head, relation, tail = torch.randint(200, (64,)), torch.randint(20, (64,)), torch.randint(200, (64,))
    apart = head != tail
    head, relation, tail = head[apart], relation[apart], tail[apart]
    alone = net.score_triples(head, relation, tail)
    tails = net.score_tails(head, relation).gather(1, tail[:, None])[:, 0]
    heads = net.score_heads(relation, tail).gather(1, head[:, None])[:, 0]
    torch.testing.assert_close(tails, alone, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(heads, alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_reciprocal_agrees_in_each_direction(model: Kind) -> None:
    net, twice = make(model, 30, 4, 10, reciprocal=True), make(model, 30, 8, 10)
    assert (net.n_relations, net.n_relation_rows) == (4, 8)
    twice.load_state_dict(net.state_dict())
    head, relation, tail = torch.tensor([1, 2, 3]), torch.tensor([0, 3, 1]), torch.tensor([7, 8, 9])
    tails = net.score_tails(head, relation).gather(1, tail[:, None])[:, 0]
    heads = net.score_heads(relation, tail).gather(1, head[:, None])[:, 0]
    torch.testing.assert_close(tails, net.score_triples(head, relation, tail), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(heads, twice.score_triples(tail, relation + 4, head), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_gradients_equal_finite_differences(model: Kind) -> None:
    net = make(model, 5, 3, 4).double()
    head, relation, tail = torch.tensor([0, 1]), torch.tensor([2, 0]), torch.tensor([3, 4])
    tables = list(net.parameters())

    def scores(*_: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            net.score_tails(head, relation),
            net.score_heads(relation, tail),
            net.score_triples(head, relation, tail),
            net.score_pairs(net.head_query(relation, tail), head),
            net.entity_squares(head),
            net.relation_squares(relation),
        )

    assert torch.autograd.gradcheck(scores, tables)


@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_tables_are_declared(model: Kind, reciprocal: bool) -> None:
    net = make(model, 6, 2, 3, reciprocal)
    assert all(len(table) == 6 for table in net.entity_parameters().values())
    assert all(len(table) == 2 + 2 * reciprocal for table in net.relation_parameters().values())
    declared = {**net.entity_parameters(), **net.relation_parameters()}
    assert {id(p) for p in declared.values()} == {id(p) for p in net.parameters()}


@pytest.mark.parametrize("norm", [1, 2])
def test_transe_by_hand(norm: int) -> None:
    net = TransE(2, 1, 2, norm=norm)
    net.entity.data = torch.tensor([[1.0, 0.0], [4.0, 5.0]])
    net.relation.data = torch.tensor([[0.0, 1.0]])
    wanted = -7.0 if norm == 1 else -5.0
    assert net.score_triples(*torch.tensor([[0], [0], [1]])).item() == pytest.approx(wanted)


def test_complex_by_hand() -> None:
    net = ComplEx(2, 1, 1)
    net.entity.data = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
    net.relation.data = torch.tensor([[0.5, 1.0]])
    wanted = ((1 + 2j) * (0.5 + 1j) * (3 + 1j)).real
    assert net.score_triples(*torch.tensor([[0], [0], [1]])).item() == pytest.approx(wanted)


def test_transe_from_zero_has_finite_gradients() -> None:
    net = TransE(3, 1, 4, init_std=0.0)
    net.score_tails(torch.tensor([0]), torch.tensor([0])).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in net.parameters() if p.grad is not None)


def test_bad_values_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`kge_model.dim` must be an integer >= 1, but is 0\."):
        TransE(3, 1, 0)
    with pytest.raises(ConfigError, match=r"`kge_model.norm` must be 1 or 2, but is 3\."):
        TransE(3, 1, 2, norm=3)
    with pytest.raises(ConfigError, match=r"`kge_model.reciprocal` must be true or false, but is 'no'\."):
        TransE(3, 1, 2, reciprocal="no")  # type: ignore[arg-type]
