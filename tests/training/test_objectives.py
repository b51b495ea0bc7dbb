"""Objectives beside loops over triples, and the batches that they are asked for."""

from collections import Counter

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.kge import (
    ComplEx,
)
from mohone.training import KvsAll, NegativeSampling, Objective, OneVsAll
from mohone.training.objective import shuffled
from tests.helpers.training import epoch


@pytest.mark.parametrize("batch_size", [1, 5, 100, 10_000])
def test_triple_batches_hold_each_triple_once(umls: KnowledgeGraph, batch_size: int) -> None:
    batches = epoch(NegativeSampling(n_negatives=3), umls, batch_size)
    drawn = list(batches)
    assert len(drawn) == len(batches)
    for side in ("tails", "heads"):
        triples = torch.cat([getattr(batch, side) for batch in drawn])
        assert Counter(map(tuple, triples.tolist())) == Counter(map(tuple, umls.train.tolist()))
    assert all(batch.negatives.shape == (3,) for batch in drawn)


@pytest.mark.parametrize("answers_per_query", [1, 3, 1000])
def test_query_batches_hold_each_answer_once(umls: KnowledgeGraph, answers_per_query: int) -> None:
    objective = OneVsAll(answers_per_query=answers_per_query)
    batches = epoch(objective, umls, 64)
    tails, heads = [], []
    drawn = list(batches)
    assert len(drawn) == len(batches)
    for batch in drawn:
        for side, out in ((batch.tail, tails), (batch.head, heads)):
            counts = torch.bincount(side.rows, minlength=len(side.entity))
            assert torch.equal(counts, side.n_answers)
            assert counts.max() <= answers_per_query
            triple = torch.stack([side.entity[side.rows], side.relation[side.rows], side.answers], 1)
            out.extend(map(tuple, triple.tolist()))
    wanted = Counter(map(tuple, umls.train.tolist()))
    assert Counter(tails) == wanted
    assert Counter((h, r, t) for t, r, h in heads) == wanted


def test_orders_depend_on_the_generator_alone(umls: KnowledgeGraph) -> None:
    for objective in (NegativeSampling(), OneVsAll(), KvsAll(relation_block=50)):
        one, other = (next(iter(epoch(objective, umls, 32))) for _ in range(2))
        assert str(one) == str(other)


def written_out(model: ComplEx, h: int, r: int, t: int, n3: float) -> float:
    """One example of 1-vs-all, both sides, without a line in common with the code."""
    heads, relations, tails = torch.tensor([h]), torch.tensor([r]), torch.tensor([t])
    loss = -torch.log_softmax(model.score_tails(heads, relations), 1)[0, t]
    loss = loss - torch.log_softmax(model.score_heads(relations, tails), 1)[0, h]
    for table, row in ((model.entity, h), (model.relation, r), (model.entity, t)):
        real, imaginary = table[row].chunk(2)
        loss = loss + 2 * n3 * (torch.complex(real, imaginary).abs() ** 3).sum()
    return float(loss)


@pytest.mark.parametrize("answers_per_query", [1, 4, 1000])
def test_one_vs_all_is_the_same_sum_however_answers_are_grouped(
    base: KnowledgeGraph, answers_per_query: int
) -> None:
    torch.manual_seed(0)
    model = ComplEx(4, 2, 3, init_std=1.0)
    objective = OneVsAll(answers_per_query, n3=0.1)
    total = sum(
        float(objective.loss(model, batch)) * batch.mean_answers for batch in epoch(objective, base, 3)
    )
    wanted = sum(written_out(model, h, r, t, 0.1) for h, r, t in base.train.tolist())
    assert total == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("n_candidates", [1, 3, 200])
def test_one_vs_some_is_the_softmax_over_the_answers_and_the_drawn(
    base: KnowledgeGraph, n_candidates: int
) -> None:
    torch.manual_seed(0)
    model = ComplEx(4, 2, 3, init_std=1.0)
    objective = OneVsAll(n_candidates=n_candidates)
    for batch in epoch(objective, base, 3):
        total = 0.0
        for side, score in (
            (batch.tail, model.score_tails),
            (batch.head, lambda e, r: model.score_heads(r, e)),
        ):
            assert side.drawn is not None
            assert side.drawn.shape == (n_candidates,)
            some = sorted({*side.answers.tolist(), *side.drawn.tolist()})
            for row, answer in zip(side.rows.tolist(), side.answers.tolist(), strict=True):
                scores = score(side.entity[[row]], side.relation[[row]])[0]
                total += float(scores[some].logsumexp(0) - scores[answer])
        assert float(objective.loss(model, batch)) == pytest.approx(total / batch.mean_answers, rel=1e-5)
        if n_candidates == 200:
            whole = OneVsAll().loss(model, batch)
            assert float(objective.loss(model, batch)) == pytest.approx(float(whole), rel=1e-5)


def test_k_vs_all_by_a_loop(base: KnowledgeGraph) -> None:
    torch.manual_seed(0)
    model = ComplEx(4, 2, 3, init_std=1.0)
    total = n = 0.0
    triples = base.train.tolist()
    for h, r in {(h, r) for h, r, _ in triples}:
        scores = torch.log_softmax(model.score_tails(torch.tensor([h]), torch.tensor([r])), 1)[0]
        answers = [t for a, b, t in triples if (a, b) == (h, r)]
        total, n = total - float(scores[answers].mean()), n + 1
    for r, t in {(r, t) for _, r, t in triples}:
        scores = torch.log_softmax(model.score_heads(torch.tensor([r]), torch.tensor([t])), 1)[0]
        answers = [h for h, a, b in triples if (a, b) == (r, t)]
        total, n = total - float(scores[answers].mean()), n + 1
    objective = KvsAll()
    found = sum(
        float(objective.loss(model, batch)) * batch.mean_queries for batch in epoch(objective, base, 4)
    )
    assert found == pytest.approx(total, rel=1e-5)
    assert n == len(objective.examples(base))


def test_without_inverses_the_two_directions_are_each_others_ends(base: KnowledgeGraph) -> None:
    model = ComplEx(4, 2, 3, init_std=1.0)
    batch = next(iter(epoch(OneVsAll(), base, 100)))
    one, both = (OneVsAll(dura=0.1, dura_ends=ends).loss(model, batch) for ends in ("one", "both"))
    torch.testing.assert_close(one, both)


@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("objective", [OneVsAll, KvsAll, NegativeSampling])
def test_relation_loss_by_a_loop(base: KnowledgeGraph, objective: type[Objective], reciprocal: bool) -> None:
    torch.manual_seed(0)
    model = ComplEx(4, 2, 3, init_std=1.0, reciprocal=reciprocal)
    triples = base.train.tolist()
    rows = torch.arange(model.n_relation_rows)
    wanted = 0.0
    for h, r, t in triples:
        sides = [(h, r, t, [x for x in triples if x[:2] == [h, r]])]
        sides += [(t, r + 2, h, []) if reciprocal else (h, r, t, [])]
        sides[1][3].extend(x for x in triples if x[1:] == [r, t])
        for head, row, tail, same in sides:
            scores = model.score_pairs(
                model.tail_query(torch.full_like(rows, head), rows), torch.full_like(rows, tail)
            )
            loss = float(scores.logsumexp(0) - scores[row])
            wanted += loss / (len(same) if objective is KvsAll else 1)
    found = 0.0
    for batch in epoch(objective(), base, 4):
        scale = {OneVsAll: "mean_answers", KvsAll: "mean_queries", NegativeSampling: "n_examples"}[objective]
        more = objective(relation_weight=0.5).loss(model, batch) - objective().loss(model, batch)
        found += getattr(batch, scale) * float(more)
    assert found == pytest.approx(0.5 * wanted, rel=1e-3)


@pytest.mark.parametrize("objective", [OneVsAll(), KvsAll(), KvsAll("logistic")])
def test_two_processes_have_the_gradient_of_one(umls: KnowledgeGraph, objective: Objective) -> None:
    torch.manual_seed(0)
    model = ComplEx(umls.n_entities, umls.n_relations, 4, init_std=1.0)

    def gradients(rank: int, world: int) -> list[torch.Tensor]:
        found = []
        for batch in epoch(objective, umls, 100, rank, world):
            model.zero_grad()
            objective.loss(model, batch).backward()
            found.append(model.entity.grad.clone())
        return found

    whole, first, second = gradients(0, 1), gradients(0, 2), gradients(1, 2)
    assert len(whole) == len(first) == len(second)
    for all_of_it, one, other in zip(whole, first, second, strict=True):
        torch.testing.assert_close((one + other) / 2, all_of_it, rtol=1e-4, atol=1e-6)


def test_two_processes_share_the_triples(umls: KnowledgeGraph) -> None:
    drawn = []
    for rank in range(2):
        for batch in epoch(NegativeSampling(n_negatives=3), umls, 101, rank, 2):
            drawn.extend(map(tuple, batch.tails.tolist()))
    assert Counter(drawn) == Counter(map(tuple, umls.train.tolist()))


@pytest.mark.parametrize("run", [1, 7, 1000])
def test_shuffled_is_a_permutation_in_runs(run: int) -> None:
    relation = torch.tensor([3] * 20 + [0] * 10 + [5] * 3)
    one, other = (shuffled(relation, run, torch.Generator().manual_seed(i)) for i in (0, 1))
    assert sorted(one.tolist()) == list(range(33))
    assert one.tolist() != other.tolist()
    changes = int((relation[one].diff() != 0).sum())
    assert changes < -(-20 // run) + -(-10 // run) + -(-3 // run)


def test_dropout_acts_on_queries_only() -> None:
    model = ComplEx(4, 2, 50, init_std=1.0)
    objective = NegativeSampling(dropout=0.5)
    query = model.tail_query(torch.tensor([0]), torch.tensor([1]))
    dropped = objective.drop(query).vectors
    kept = dropped != 0
    assert 0 < int(kept.sum()) < 100
    torch.testing.assert_close(dropped[kept], 2 * query.vectors[kept])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dropout": 1.0}, r"`training.dropout` must be >= 0 and < 1, but is 1\."),
        ({"n3": -1.0}, r"`training.n3` must be >= 0, but is -1\."),
        ({"label_smoothing": "x"}, "`training.label_smoothing` must be a number"),
        ({"inverse_temperature": 0.0}, r"`training.inverse_temperature` must be > 0, but is 0\."),
    ],
)
def test_bad_values_are_refused(arguments: dict[str, float], message: str) -> None:
    for objective in (NegativeSampling, OneVsAll, KvsAll):
        with pytest.raises(ConfigError, match=message):
            objective(**arguments)
