from collections import Counter

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.kge import (
    RESCAL,
    Analogy,
    ComplEx,
    KGEModel,
    TransD,
    TransE,
)
from mohone.training import KvsAll, NegativeSampling, Objective, OneVsAll
from mohone.training.objective import Batches, Share, shuffled


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def epoch(
    objective: Objective, kg: KnowledgeGraph, batch_size: int, rank: int = 0, world: int = 1
) -> Batches:
    return objective.examples(kg).epoch(batch_size, generator(), Share(rank=rank, world=world))


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


def test_negative_sampling_by_a_loop(base: KnowledgeGraph) -> None:
    torch.manual_seed(0)
    model = TransE(4, 2, 3)
    objective = NegativeSampling(n_negatives=5, inverse_temperature=2.0, l2=0.3)
    batch = next(iter(epoch(objective, base, 4)))
    total = 0.0
    for side in (2, 0):
        answers = batch.tails[:, side]
        for i, triple in enumerate(batch.tails.tolist()):
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
    assert float(objective.loss(model, batch)) == pytest.approx(total / 8, rel=1e-4)


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


@pytest.mark.parametrize("corruption", ["uniform", "bernoulli"])
def test_one_side_of_each_triple_is_replaced(umls: KnowledgeGraph, corruption: str) -> None:
    drawn = list(epoch(NegativeSampling(n_negatives=3, corruption=corruption), umls, 101))
    heads = Counter(tuple(t) for batch in drawn for t in batch.heads.tolist())
    tails = Counter(tuple(t) for batch in drawn for t in batch.tails.tolist())
    assert heads + tails == Counter(map(tuple, umls.train.tolist()))
    share = []
    for r in range(umls.n_relations):
        of = [(h, t) for h, q, t in umls.train.tolist() if q == r]
        tph, hpt = len(of) / max(1, len({h for h, _ in of})), len(of) / max(1, len({t for _, t in of}))
        share.append(len(of) * (tph / (tph + hpt) if corruption == "bernoulli" else 0.5) if of else 0.0)
    # Within four standard deviations of what the coins should give.
    assert sum(heads.values()) == pytest.approx(sum(share), abs=4 * len(umls.train) ** 0.5 / 2)


@pytest.mark.parametrize("in_batch", [True, False])
@pytest.mark.parametrize("filtered", [True, False])
def test_what_is_no_negative(base: KnowledgeGraph, in_batch: bool, filtered: bool) -> None:
    objective = NegativeSampling(n_negatives=6, in_batch=in_batch, filtered=filtered, loss="logistic")
    batch = next(iter(epoch(objective, base, 6)))
    torch.manual_seed(0)
    model = TransE(4, 2, 3)
    known = {tuple(t) for t in base.train.tolist()}
    total = 0.0
    for column in (2, 0):
        answers = batch.tails[:, column].tolist()
        for i, triple in enumerate(batch.tails.tolist()):
            negatives = []
            for candidate in [
                *(answers[:i] + answers[i + 1 :] if in_batch else []),
                *batch.negatives.tolist(),
            ]:
                asked = list(triple)
                asked[column] = candidate
                if candidate != triple[column] and not (filtered and tuple(asked) in known):
                    negatives.append(float(model.score_triples(*torch.tensor(asked)[:, None])))
            gold = model.score_triples(*torch.tensor(triple)[:, None])
            total += float(torch.nn.functional.softplus(-gold))
            values = torch.nn.functional.softplus(torch.tensor(negatives))
            total += float(values.mean()) if negatives else 0.0
    assert float(objective.loss(model, batch)) == pytest.approx(total / 12, rel=1e-5)


@pytest.mark.parametrize("run", [1, 7, 1000])
def test_shuffled_is_a_permutation_in_runs(run: int) -> None:
    relation = torch.tensor([3] * 20 + [0] * 10 + [5] * 3)
    one, other = (shuffled(relation, run, torch.Generator().manual_seed(i)) for i in (0, 1))
    assert sorted(one.tolist()) == list(range(33))
    assert one.tolist() != other.tolist()
    changes = int((relation[one].diff() != 0).sum())
    assert changes < -(-20 // run) + -(-10 // run) + -(-3 // run)


def test_an_empty_side_costs_nothing(base: KnowledgeGraph) -> None:
    model: KGEModel = TransE(4, 2, 3)
    objective = KvsAll(relation_block=50)
    for batch in epoch(objective, base, 1):
        assert sorted([len(batch.tail.entity), len(batch.head.entity)]) == [0, 1]
        assert torch.isfinite(objective.loss(model, batch))


def test_reciprocal_regularises_the_inverse_relation(base: KnowledgeGraph) -> None:
    model = ComplEx(4, 2, 3, init_std=1.0, reciprocal=True)
    objective = OneVsAll(n3=0.1)
    batch = next(iter(epoch(objective, base, 100)))
    objective.loss(model, batch).backward()
    assert model.relation.grad is not None
    assert (model.relation.grad.abs().sum(1) > 0).all()


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
