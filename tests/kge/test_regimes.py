from collections import Counter

import pytest
import torch

from mohone.data import KnowledgeGraph
from mohone.errors import ConfigError
from mohone.kge import ComplEx, NegativeSampling, OneVsAll, Reciprocal, TransE


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("batch_size", [1, 5, 100, 10_000])
def test_triple_batches_hold_each_triple_once(umls: KnowledgeGraph, batch_size: int) -> None:
    batches = NegativeSampling(n_negatives=3).batches(umls, batch_size, generator())
    drawn = list(batches)
    assert len(drawn) == len(batches)
    triples = torch.cat([batch.triples for batch in drawn])
    assert Counter(map(tuple, triples.tolist())) == Counter(map(tuple, umls.train.tolist()))
    assert all(batch.negatives.shape == (3,) for batch in drawn)


@pytest.mark.parametrize("answers_per_query", [1, 3, 1000])
def test_query_batches_hold_each_answer_once(umls: KnowledgeGraph, answers_per_query: int) -> None:
    regime = OneVsAll(answers_per_query=answers_per_query)
    batches = regime.batches(umls, 64, generator())
    tails, heads = [], []
    drawn = list(batches)
    assert len(drawn) == len(batches)
    for batch in drawn:
        for side, out in ((batch.tail, tails), (batch.head, heads)):
            assert torch.bincount(side.rows, minlength=1).max() <= answers_per_query
            triple = torch.stack([side.entity[side.rows], side.relation[side.rows], side.answers], 1)
            out.extend(map(tuple, triple.tolist()))
    wanted = Counter(map(tuple, umls.train.tolist()))
    assert Counter(tails) == wanted
    assert Counter((h, r, t) for t, r, h in heads) == wanted


def test_orders_depend_on_the_generator_alone(umls: KnowledgeGraph) -> None:
    for regime in (NegativeSampling(), OneVsAll()):
        one, other = (next(iter(regime.batches(umls, 32, generator()))) for _ in range(2))
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
    regime = OneVsAll(answers_per_query, n3=0.1)
    total = sum(
        float(regime.loss(model, batch)) * batch.n_examples for batch in regime.batches(base, 3, generator())
    )
    wanted = sum(written_out(model, h, r, t, 0.1) for h, r, t in base.train.tolist())
    assert total == pytest.approx(wanted, rel=1e-5)


def test_negative_sampling_by_a_loop(base: KnowledgeGraph) -> None:
    torch.manual_seed(0)
    model = TransE(4, 2, 3)
    regime = NegativeSampling(n_negatives=5, inverse_temperature=2.0, l2=0.3)
    batch = next(iter(regime.batches(base, 4, generator())))
    total = 0.0
    for side in (2, 0):
        answers = batch.triples[:, side]
        for i, triple in enumerate(batch.triples.tolist()):
            scores, gold = [], torch.zeros(())
            for j, candidate in enumerate([*answers.tolist(), *batch.negatives.tolist()]):
                if candidate == triple[side] and j != i:
                    continue
                asked = list(triple)
                asked[side] = candidate
                scores.append(2.0 * model.score_triples(*torch.tensor(asked)[:, None])[0])
                gold = scores[-1] if j == i else gold
            total += float(torch.logsumexp(torch.stack(scores), 0) - gold)
            h, r, t = triple
            total += 0.3 * float(
                sum(v.square().sum() for v in (model.entity[h], model.relation[r], model.entity[t]))
            )
    assert float(regime.loss(model, batch)) == pytest.approx(total / 8, rel=1e-4)


def test_reciprocal_regularises_the_inverse_relation(base: KnowledgeGraph) -> None:
    inner = ComplEx(4, 4, 3, init_std=1.0)
    regime = OneVsAll(n3=0.1)
    batch = next(iter(regime.batches(base, 100, generator())))
    regime.loss(Reciprocal(inner), batch).backward()
    assert inner.relation.grad is not None
    assert (inner.relation.grad.abs().sum(1) > 0).all()


def test_dropout_acts_on_queries_only() -> None:
    model = ComplEx(4, 2, 50, init_std=1.0)
    regime = NegativeSampling(dropout=0.5)
    query = model.tail_query(torch.tensor([0]), torch.tensor([1]))
    dropped = regime.drop(query).vectors
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
    for regime in (NegativeSampling, OneVsAll):
        with pytest.raises(ConfigError, match=message):
            regime(**arguments)
