"""Moving the known side of a query alone: scores against a model in which each entity stands twice."""

import torch

from mohone.data import KnowledgeGraph
from mohone.kge import KGEModel, TransE
from mohone.kge.query_side import QuerySide
from tests.helpers.training import OBJECTIVE, callback, new_transe, settings, train
from tests.kge.test_models import Kind, every_model, make

N, M = 6, 4
HEAD, RELATION, TAIL = torch.tensor([0, 1, 5, 2]), torch.tensor([2, 0, 3, 3]), torch.tensor([3, 1, 4, 0])


def moved_and_twice(model: Kind, n_relations: int = M) -> tuple[KGEModel, KGEModel]:
    """A model whose asking side has moved, and one of twice the entities: the moved, then the others."""
    one, two = make(model, N, n_relations, 4), make(model, 2 * N, n_relations, 4)
    moved = QuerySide(one)
    for name, table in moved.entity_parameters().items():
        table.data += torch.randn_like(table)
        two.get_parameter(name).data.copy_(torch.cat([table.data, one.get_parameter(name).data]))
    for name, table in one.relation_parameters().items():
        two.get_parameter(name).data.copy_(table.data)
    return moved, two


@every_model
def test_moved_queries_meet_unmoved_candidates(model: Kind) -> None:
    moved, two = moved_and_twice(model)
    unmoved = torch.arange(N, 2 * N)
    close = {"atol": 1e-5, "rtol": 1e-5}
    tails = two.score_tails(HEAD, RELATION, unmoved)
    torch.testing.assert_close(moved.score_tails(HEAD, RELATION), tails, **close)
    torch.testing.assert_close(
        moved.score_heads(RELATION, TAIL), two.score_heads(RELATION, TAIL, unmoved), **close
    )
    alone = two.score_triples(HEAD, RELATION, N + TAIL)
    torch.testing.assert_close(moved.score_triples(HEAD, RELATION, TAIL), alone, **close)
    relations = moved.score_relations(HEAD, TAIL)
    torch.testing.assert_close(relations, two.score_relations(HEAD, N + TAIL), **close)
    torch.testing.assert_close(moved.entity_squares(HEAD), two.entity_squares(HEAD))


def test_of_a_reciprocal_model() -> None:
    inner = make((TransE, {}), N, M, 4, reciprocal=True)
    moved = QuerySide(inner)
    before = moved.score_heads(RELATION, TAIL)
    torch.testing.assert_close(before, inner.score_heads(RELATION, TAIL))
    next(iter(moved.entity_parameters().values())).data += 1
    assert not torch.allclose(moved.score_heads(RELATION, TAIL), before)
    torch.testing.assert_close(inner.score_heads(RELATION, TAIL), before)
    assert moved.numbers_per_entity == 2 * inner.numbers_per_entity


def test_relations_are_retrained_and_no_entity_moves(
    umls: KnowledgeGraph,
    nearest: torch.Tensor,
) -> None:
    model = new_transe(umls)
    candidates, relation = model.entity.detach().clone(), model.relation.detach().clone()
    moved = QuerySide(model)
    train(umls, moved, OBJECTIVE, settings(), callbacks=(callback(nearest),), from_start=True)
    asking = next(iter(moved.entity_parameters().values()))
    assert torch.equal(model.entity, candidates)
    assert not torch.equal(asking, candidates)
    assert moved.asking.relation is model.relation
    assert not torch.equal(model.relation, relation)
    fresh = QuerySide(new_transe(umls))
    fresh.load_state_dict(moved.state_dict())
    head, relations = torch.tensor([3]), torch.tensor([5])
    assert torch.equal(fresh.score_tails(head, relations), moved.score_tails(head, relations))
