"""What objectives add for large numbers: N3, DURA, on which relation, with few relations and many."""

import pytest
import torch

from mohone.data import KnowledgeGraph
from mohone.kge import (
    RESCAL,
    Analogy,
    ComplEx,
    KGEModel,
    TransD,
)
from mohone.training import NegativeSampling, OneVsAll
from tests.helpers.training import epoch


def test_dura_by_hand(base: KnowledgeGraph) -> None:
    model = ComplEx(4, 2, 3, init_std=1.0)
    batch = next(iter(epoch(OneVsAll(), base, 100)))
    extra = 0.0
    for h, r, t in base.train.tolist():
        one = torch.tensor([[h], [r], [t]])
        queries = model.tail_query(one[0], one[1]).vectors, model.head_query(one[1], one[2]).vectors
        extra += float(sum(q.square().sum() for q in queries))
        extra += float(model.entity[h].square().sum() + model.entity[t].square().sum())
    found = OneVsAll(dura=0.1).loss(model, batch) - OneVsAll().loss(model, batch)
    assert float(found) == pytest.approx(0.1 * extra / batch.mean_answers, rel=1e-4)


@pytest.mark.parametrize("cls", [ComplEx, RESCAL])
def test_dura_of_both_ends_by_hand(base: KnowledgeGraph, cls: type[KGEModel]) -> None:
    torch.manual_seed(0)
    model = cls(4, 2, 3, reciprocal=True)
    for table in model.parameters():
        table.data.normal_()
    extra = 0.0
    for h, r, t in base.train.tolist():
        for known, row, answer in ((h, r, t), (t, r + 2, h)):
            one = [torch.tensor([i]) for i in (known, row, answer)]
            asked, back = model.tail_query(*one[:2]), model.plain_head_query(*one[1:])
            extra += float(asked.vectors.square().sum() + back.vectors.square().sum())
            extra += float(model.entity[known].square().sum() + model.entity[answer].square().sum())
    for objective in (OneVsAll, NegativeSampling):
        found = 0.0
        torch.manual_seed(0)
        for batch in epoch(objective(), base, 4):
            scale = batch.mean_answers if objective is OneVsAll else batch.n_examples
            both = objective(dura=0.1, dura_ends="both").loss(model, batch)
            found += scale * float(both - objective().loss(model, batch))
        assert found == pytest.approx(0.1 * extra, rel=1e-3)


def test_reciprocal_regularises_the_inverse_relation(base: KnowledgeGraph) -> None:
    model = ComplEx(4, 2, 3, init_std=1.0, reciprocal=True)
    objective = OneVsAll(n3=0.1)
    batch = next(iter(epoch(objective, base, 100)))
    objective.loss(model, batch).backward()
    assert model.relation.grad is not None
    assert (model.relation.grad.abs().sum(1) > 0).all()


@pytest.mark.parametrize("n_relations", [3, 50])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cls", [RESCAL, ComplEx, Analogy, TransD])
def test_penalty_by_a_loop_with_few_relations_and_many(
    cls: type[KGEModel], weighted: bool, n_relations: int
) -> None:
    torch.manual_seed(0)
    model = cls(9, n_relations, 4, reciprocal=True).double()
    head, relation, answers = (torch.randint(n, (20,)) for n in (9, n_relations, 9))
    weight = torch.rand(20).double() if weighted else None
    query = model.head_query(relation, head)
    wanted = 0.0
    for i in range(20):
        at = slice(i, i + 1)
        squares = [
            model.entity_squares(head[at]),
            model.relation_squares(relation[at] + n_relations),
            model.entity_squares(answers[at]),
        ]
        each = 1.0 if weight is None else float(weight[i])
        wanted += each * sum(float(0.3 * s.sum() + 0.2 * s.sqrt().pow(3).sum()) for s in squares)
    penalty = NegativeSampling(n3=0.2, l2=0.3).penalty(model, query, weight, answers, weight)
    assert float(penalty) == pytest.approx(wanted)
