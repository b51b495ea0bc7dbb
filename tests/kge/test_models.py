"""What holds for every model of `conf/kge_model`: its ways to score agree, and its gradients are right."""

import inspect
from typing import Any

import pytest
import torch
from hydra.utils import get_class
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from mohone.core.errors import ConfigError
from mohone.kge import (
    ComplEx,
    KGEModel,
    ProjectedTransD,
    ProjectedTransH,
    ProjectedTransR,
    TransD,
    TransE,
    TransH,
    TransR,
)
from tests.helpers.configured import files

Kind = tuple[type[KGEModel], dict[str, Any]]
Shape = tuple[int, int, int, int]
CONFIGURED: dict[type[KGEModel], dict[str, Any]] = {
    get_class(node["_target_"]): node for node in map(OmegaConf.load, files("kge_model"))
}
# A model is tested as its class makes it by default, and as any variants named here make it.
VARIANTS: dict[type[KGEModel], list[dict[str, Any]]] = {
    TransE: [{"norm": 1}, {"squared": True}, {"norm": 1, "squared": True}],
    TransH: [{"squared": True}],
    TransR: [{"step_scale": 1.0}, {"relation_dim": 2, "squared": True}, {"relation_dim": 7}],
    TransD: [{"squared": True}],
    ProjectedTransH: [{"norm": 1}, {"power": True}],
    ProjectedTransR: [{"norm": 1, "relation_dim": 2}, {"power": True, "relation_dim": 7}],
    ProjectedTransD: [{"norm": 1, "relation_dim": 2}, {"power": True, "relation_dim": 7}],
}
MODELS: list[Kind] = [(cls, changed) for cls in CONFIGURED for changed in ({}, *VARIANTS.get(cls, []))]

every_model = pytest.mark.parametrize(
    "model",
    MODELS,
    ids=[" ".join([cls.__name__, *(f"{k}={v}" for k, v in changed.items())]) for cls, changed in MODELS],
)
# Entities, relations, half of the dimensions (some models want an even number of them), batch.
shapes = st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 5), st.integers(1, 5))


def make(model: Kind, n: int, m: int, dim: int, reciprocal: bool = False) -> KGEModel:
    """A model of normal numbers: the first ones of some are zeros, or so small that no error would show."""
    torch.manual_seed(n + 10 * m + 100 * dim)
    cls, changed = model
    net = cls(n, m, dim, reciprocal=reciprocal, **changed)
    for table in net.parameters():
        table.data.normal_()
    return net


@pytest.mark.parametrize("cls", CONFIGURED)
def test_a_configuration_says_all_arguments_with_the_defaults_of_the_class(cls: type[KGEModel]) -> None:
    parameters = inspect.signature(cls).parameters
    arguments = {key: value for key, value in parameters.items() if not key.startswith("n_")}
    node = OmegaConf.to_container(CONFIGURED[cls], resolve=False)
    assert set(node) == {"_target_", "_partial_", *arguments}
    assert node["dim"] == "${dim}"
    assert all(node[key] == argument.default for key, argument in arguments.items() if key != "dim")


def test_variants_are_of_configured_models() -> None:
    assert set(VARIANTS) <= set(CONFIGURED)


@every_model
@given(shape=shapes)
def test_three_ways_to_score_agree(model: Kind, shape: Shape) -> None:
    n, m, half, batch = shape
    net = make(model, n, m, 2 * half).double()
    head, tail = torch.randint(n, (batch,)), torch.randint(n, (batch,))
    relation = torch.randint(m, (batch,))
    alone = net.score_triples(head, relation, tail)
    tails, heads = net.score_tails(head, relation), net.score_heads(relation, tail)
    assert tails.shape == heads.shape == (batch, n)
    close = {"atol": 1e-8, "rtol": 1e-8}
    torch.testing.assert_close(tails.gather(1, tail[:, None])[:, 0], alone, **close)
    torch.testing.assert_close(heads.gather(1, head[:, None])[:, 0], alone, **close)
    torch.testing.assert_close(net.score_pairs(net.tail_query(head, relation), tail), alone, **close)
    torch.testing.assert_close(net.score_pairs(net.head_query(relation, tail), head), alone, **close)
    some = torch.randint(n, (3,))
    torch.testing.assert_close(net.score_tails(head, relation, some), tails[:, some], **close)
    torch.testing.assert_close(net.score_heads(relation, tail, some), heads[:, some], **close)
    relations = net.score_relations(head, tail)
    assert relations.shape == (batch, m)
    torch.testing.assert_close(relations.gather(1, relation[:, None])[:, 0], alone, **close)


@every_model
def test_in_single_precision_five_digits_are_right(model: Kind) -> None:
    net = make(model, 200, 20, 50)
    head, relation, tail = torch.randint(200, (64,)), torch.randint(20, (64,)), torch.randint(200, (64,))
    apart = head != tail
    head, relation, tail = head[apart], relation[apart], tail[apart]
    found = (
        net.score_triples(head, relation, tail),
        net.score_tails(head, relation).gather(1, tail[:, None])[:, 0],
        net.score_heads(relation, tail).gather(1, head[:, None])[:, 0],
    )
    wanted = net.double().score_triples(head, relation, tail)
    for scores in found:
        assert scores.dtype == torch.float32
        assert float((scores - wanted).abs().max()) <= 1e-5 * float(wanted.abs().max())


@every_model
def test_reciprocal_agrees_in_each_direction(model: Kind) -> None:
    """Against a model of twice the relations, the inverse ones among them."""
    net, twice = make(model, 30, 4, 10, reciprocal=True).double(), make(model, 30, 8, 10).double()
    assert (net.n_relations, net.n_relation_rows) == (4, 8)
    twice.load_state_dict(net.state_dict())
    head, relation, tail = torch.tensor([1, 2, 3]), torch.tensor([0, 3, 1]), torch.tensor([7, 8, 9])
    tails = net.score_tails(head, relation).gather(1, tail[:, None])[:, 0]
    heads = net.score_heads(relation, tail).gather(1, head[:, None])[:, 0]
    torch.testing.assert_close(tails, twice.score_triples(head, relation, tail))
    torch.testing.assert_close(tails, net.score_triples(head, relation, tail))
    torch.testing.assert_close(heads, twice.score_triples(tail, relation + 4, head))


@every_model
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
@every_model
def test_tables_are_declared(model: Kind, reciprocal: bool) -> None:
    net = make(model, 7, 3, 4, reciprocal)
    assert all(len(table) == 7 for table in net.entity_parameters().values())
    assert all(len(table) == (6 if reciprocal else 3) for table in net.relation_parameters().values())
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
