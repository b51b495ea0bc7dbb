"""Training triples with weights: a whole weight is so many copies of the triple in the loss."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.data import KnowledgeGraph
from mohone.kge import ComplEx, KGEModel
from mohone.training import KvsAll, NegativeSampling, Objective, OneVsAll
from mohone.training.objective import Batches, Share
from mohone.training.queries import QueryBatch, SideBatch
from mohone.training.weights import relative_weights

LOSSES = ("softmax", "margin", "logistic", "self_adversarial")
COPIES = torch.tensor([1, 3, 2, 1, 4, 2])
REGULARISED = {"n3": 0.1, "l2": 0.2, "dura": 0.05, "label_smoothing": 0.1, "relation_weight": 0.3}


@pytest.fixture
def model() -> KGEModel:
    torch.manual_seed(0)
    return ComplEx(4, 2, 3, init_std=1.0)


@pytest.fixture
def weighted(base: KnowledgeGraph) -> KnowledgeGraph:
    return base.weighted(COPIES)


def test_relative_weights_have_the_mean_one(base: KnowledgeGraph) -> None:
    found = relative_weights(base.weighted(torch.tensor([1, 2, 3, 4, 5, 6])))
    assert found is not None
    assert found.tolist() == pytest.approx([w / 3.5 for w in range(1, 7)])
    assert relative_weights(base) is None


def epoch(
    objective: Objective, kg: KnowledgeGraph, size: int = 100, rank: int = 0, world: int = 1
) -> Batches:
    generator = torch.Generator().manual_seed(0)
    return objective.examples(kg).epoch(size, generator, Share(rank=rank, world=world))


def loss_and_gradient(objective: Objective, model: KGEModel, batch: object) -> tuple[Tensor, ...]:
    model.zero_grad()
    loss = objective.loss(model, batch)
    loss.backward()
    return (loss.detach(), *(parameter.grad.clone() for parameter in model.parameters()))


def copies_of(kg: KnowledgeGraph, triples: Tensor) -> Tensor:
    number = {tuple(triple): n for triple, n in zip(kg.train.tolist(), COPIES.tolist(), strict=True)}
    return torch.tensor([number[tuple(triple)] for triple in triples.tolist()])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("corruption", ["both", "uniform"])
def test_a_whole_weight_is_so_many_copies_against_negatives(
    weighted: KnowledgeGraph, model: KGEModel, loss: str, corruption: str
) -> None:
    settings = {**REGULARISED, "n_negatives": 5, "loss": loss, "in_batch": False, "corruption": corruption}
    objective = NegativeSampling(**settings)
    (batch,) = epoch(objective, weighted)
    tails, heads = (
        each.repeat_interleave(copies_of(weighted, each), 0) for each in (batch.tails, batch.heads)
    )
    sides = 2 if corruption == "both" else 1
    copied = batch._replace(
        tails=tails, heads=heads, n_examples=sides * int(COPIES.sum()), tail_weights=None, head_weights=None
    )
    for found, wanted in zip(
        loss_and_gradient(objective, model, batch), loss_and_gradient(objective, model, copied), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_weights_of_a_batch_whose_answers_are_each_others_negatives(
    weighted: KnowledgeGraph, model: KGEModel
) -> None:
    objective = NegativeSampling(n_negatives=5)
    (batch,) = epoch(objective, weighted)
    total = 0.0
    for column in (2, 0):
        answers = batch.tails[:, column].tolist()
        for i, triple in enumerate(batch.tails.tolist()):
            others = [*answers[:i], *answers[i + 1 :], *batch.negatives.tolist()]
            asked = torch.tensor([triple] * (1 + len(others)))
            asked[1:, column] = torch.tensor(others)
            scores = model.score_triples(*asked.T)[[True, *(other != triple[column] for other in others)]]
            total += int(copies_of(weighted, batch.tails[[i]])) * float(scores.logsumexp(0) - scores[0])
    assert float(objective.loss(model, batch)) == pytest.approx(total / (2 * int(COPIES.sum())), rel=1e-4)


def copied_side(kg: KnowledgeGraph, side: SideBatch, heads: bool) -> SideBatch:
    """The answers written so often, without weights."""
    columns = (side.answers, side.relation[side.rows], side.entity[side.rows])
    copies = copies_of(kg, torch.stack(columns if heads else columns[::-1], 1))
    rows, answers = side.rows.repeat_interleave(copies), side.answers.repeat_interleave(copies)
    counts = torch.bincount(rows, minlength=len(side.entity))
    return SideBatch(side.entity, side.relation, counts, rows, answers, drawn=side.drawn)


@pytest.mark.parametrize("answers_per_query", [1, 2, 16])
@pytest.mark.parametrize("n_candidates", [None, 3])
def test_a_whole_weight_is_so_many_copies_against_all(
    weighted: KnowledgeGraph, model: KGEModel, answers_per_query: int, n_candidates: int | None
) -> None:
    objective = OneVsAll(answers_per_query, n_candidates, **REGULARISED)
    (batch,) = epoch(objective, weighted)
    tail, head = copied_side(weighted, batch.tail, False), copied_side(weighted, batch.head, True)
    copied = QueryBatch(tail, head, batch.mean_queries, 2 * int(COPIES.sum()))
    for found, wanted in zip(
        loss_and_gradient(objective, model, batch), loss_and_gradient(objective, model, copied), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("loss", ["softmax", "logistic"])
def test_the_term_of_each_answer_of_a_query_counts_by_its_weight(
    weighted: KnowledgeGraph, model: KGEModel, loss: str
) -> None:
    objective = KvsAll(loss)
    (batch,) = epoch(objective, weighted)
    relative = COPIES / COPIES.float().mean()
    weight = {tuple(triple): w for triple, w in zip(weighted.train.tolist(), relative.tolist(), strict=True)}
    total, n = 0.0, 0
    for side in (2, 0):
        for query in {(t[2 - side], t[1]) for t in weight}:
            answers = {t[side]: w for t, w in weight.items() if (t[2 - side], t[1]) == query}
            entity, relation = torch.tensor([query[0]]), torch.tensor([query[1]])
            scores = (
                model.score_tails(entity, relation) if side == 2 else model.score_heads(relation, entity)
            )[0]
            n += 1
            if loss == "softmax":
                terms = -torch.log_softmax(scores, 0)
                total += sum(w * float(terms[a]) for a, w in answers.items()) / len(answers)
            else:
                for entity_id, score in enumerate(scores):
                    sign = -1 if entity_id in answers else 1
                    total += answers.get(entity_id, 1.0) * float(F.softplus(sign * score)) / 4
    assert float(objective.loss(model, batch)) == pytest.approx(total / n, rel=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_regularisers_and_smoothing_of_a_query_count_by_weight(
    weighted: KnowledgeGraph, base: KnowledgeGraph, model: KGEModel, smoothing: float
) -> None:
    """Twice the weight of all answers is twice the loss, term by term."""
    for objective in (KvsAll(n3=0.1, l2=0.2, label_smoothing=smoothing), OneVsAll(**REGULARISED)):
        (batch,) = epoch(objective, weighted)
        sides = (batch.tail, batch.head)
        twice = batch._replace(
            **{
                name: side._replace(weights=2 * side.weights, total=2 * side.total)
                for name, side in zip(("tail", "head"), sides, strict=True)
            }
        )
        torch.testing.assert_close(objective.loss(model, twice), 2 * objective.loss(model, batch))
        ones = batch._replace(
            **{
                name: side._replace(weights=torch.ones_like(side.weights), total=side.n_answers.float())
                for name, side in zip(("tail", "head"), sides, strict=True)
            }
        )
        (plain,) = epoch(objective, base)
        torch.testing.assert_close(objective.loss(model, ones), objective.loss(model, plain))


def test_ones_among_the_terms_of_a_logistic_loss_change_nothing(
    weighted: KnowledgeGraph, base: KnowledgeGraph, model: KGEModel
) -> None:
    objective = KvsAll("logistic", label_smoothing=0.3)
    (batch,), (plain,) = epoch(objective, weighted), epoch(objective, base)
    ones = [
        side._replace(weights=torch.ones_like(side.weights), total=side.n_answers.float())
        for side in batch[:2]
    ]
    found = objective.loss(model, QueryBatch(*ones, *batch[2:]))
    torch.testing.assert_close(found, objective.loss(model, plain))


@pytest.mark.parametrize("value", [1.0, 0.3])
@pytest.mark.parametrize(
    "objective", [NegativeSampling(n_negatives=3), OneVsAll(2), KvsAll(), KvsAll("logistic")]
)
def test_even_weights_are_none_bit_for_bit(base: KnowledgeGraph, objective: Objective, value: float) -> None:
    even = base.weighted(torch.full((6,), value))
    assert str(list(epoch(objective, even, 2))) == str(list(epoch(objective, base, 2)))


@pytest.mark.parametrize("world", [1, 2])
@pytest.mark.parametrize(
    "objective",
    [
        NegativeSampling(n_negatives=3),
        NegativeSampling(n_negatives=3, corruption="bernoulli", relation_block=9),
    ],
)
def test_each_triple_of_a_batch_has_its_own_weight(
    umls: KnowledgeGraph, objective: NegativeSampling, world: int
) -> None:
    kg = umls.weighted(torch.arange(1, len(umls.train) + 1))
    own = {tuple(t): i / (len(kg.train) + 1) * 2 for i, t in enumerate(kg.train.tolist(), start=1)}
    seen = 0
    for rank in range(world):
        for batch in epoch(objective, kg, 100, rank, world):
            for triples, weights in ((batch.tails, batch.tail_weights), (batch.heads, batch.head_weights)):
                assert weights.tolist() == pytest.approx([own[tuple(t)] for t in triples.tolist()])
                seen += len(triples)
    assert seen == (2 if objective.corruption == "both" else 1) * len(kg.train)


@pytest.mark.parametrize("objective", [OneVsAll(3), KvsAll()])
def test_each_answer_of_a_query_has_the_weight_of_its_triple(
    umls: KnowledgeGraph, objective: Objective
) -> None:
    kg = umls.weighted(torch.arange(1, len(umls.train) + 1))
    own = {tuple(t): i / (len(kg.train) + 1) * 2 for i, t in enumerate(kg.train.tolist(), start=1)}
    for rank in range(2):
        for batch in epoch(objective, kg, 64, rank, 2):
            for side, turned in ((batch.tail, 1), (batch.head, -1)):
                found = zip(side.entity[side.rows], side.relation[side.rows], side.answers, strict=True)
                wanted = [own[tuple(int(i) for i in each)[::turned]] for each in found]
                assert side.weights.tolist() == pytest.approx(wanted)
                totals = torch.zeros(len(side.entity)).index_add(0, side.rows, torch.tensor(wanted))
                torch.testing.assert_close(side.total, totals)
