"""What a model has from the base class: lookups whose gradients are sparse when asked, and nothing global."""

import pytest
import torch

from mohone.kge import KGEModel, TransE, TransR
from mohone.kge.query_side import QuerySide
from mohone.kge.tables import make_gradients_dense

HEAD, RELATION, TAIL = torch.tensor([3, 90, 3]), torch.tensor([1, 0, 49]), torch.tensor([7, 3, 90])


def new(wrapped: bool) -> KGEModel:
    torch.manual_seed(0)
    model = TransE(100, 50, 4)
    return QuerySide(model) if wrapped else model


def gradients(model: KGEModel, on: bool) -> list[torch.Tensor]:
    with model.sparse_gradients(on):
        loss = model.score_pairs(model.tail_query(HEAD, RELATION), TAIL).sum()
    loss.backward()
    return [table.grad for table in model.parameters() if table.grad is not None]


@pytest.mark.parametrize("wrapped", [False, True])
def test_gradients_are_sparse_when_asked_and_the_same(wrapped: bool) -> None:
    model = new(wrapped)
    assert all(gradient.is_sparse for gradient in gradients(model, on=True))
    make_gradients_dense(model)
    found = [table.grad for table in model.parameters() if table.grad is not None]
    wanted = gradients(new(wrapped), on=False)
    assert not any(gradient.is_sparse for gradient in (*found, *wanted))
    assert len(found) == len(wanted) == 2
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_sparse_gradients_end_with_their_block_and_are_of_one_model() -> None:
    asked, other = new(False), new(False)
    with asked.sparse_gradients():
        other.score_triples(HEAD, RELATION, TAIL).sum().backward()
    with pytest.raises(IndexError), asked.sparse_gradients():
        asked.score_triples(HEAD + 100, RELATION, TAIL)
    asked.score_triples(HEAD, RELATION, TAIL).sum().backward()
    for model in (asked, other):
        assert not any(table.grad is None or table.grad.is_sparse for table in model.parameters())


def test_many_rows_of_a_table_have_a_dense_gradient() -> None:
    model = TransE(10, 50, 4)
    with model.sparse_gradients():
        loss = model.score_pairs(model.tail_query(HEAD % 10, RELATION), TAIL % 10).sum()
    loss.backward()
    assert model.entity.grad is not None
    assert not model.entity.grad.is_sparse


def test_a_model_around_another_has_its_relation_block() -> None:
    assert (TransE.relation_block, TransR.relation_block) == (1, 32)
    assert QuerySide(TransR(4, 2, 3)).relation_block == 32
