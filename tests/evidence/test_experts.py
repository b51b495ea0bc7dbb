"""Each expert against its oracle, and what all of them keep to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from mohone.evidence.facts import facts_of
from mohone.evidence.reasons import Context, Popular, Reason, SimilarAnswer, Vote
from mohone.evidence.reasons import Linked as LinkedReason
from mohone.evidence.reasons import Path as PathReason
from tests.evidence.experts import KINDS, SEEDS, every, fitted, neighbors_of
from tests.evidence.oracles import N, Oracle, R, random_kg, some_queries, without


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["votes", "answers", "contexts", "frequency", "linked"])
def test_values_are_those_of_loops_over_triples(kind: str, seed: int) -> None:
    kg = random_kg(seed)
    oracle = getattr(Oracle(kg, neighbors_of(kg, seed)), kind)
    known, relation = some_queries(seed)
    expected = torch.tensor(
        [[oracle(h, r, t) for t in range(N)] for h, r in zip(known.tolist(), relation.tolist(), strict=True)]
    )
    assert expected.count_nonzero() > 20
    torch.testing.assert_close(every(fitted(kind, kg, seed), known, relation), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_get_the_values_of_candidates(kind: str) -> None:
    kg = random_kg(0)
    expert = fitted(kind, kg)
    known, relation = some_queries(0)
    weights = torch.randn(len(known), len(expert.values))
    scores = torch.randn(len(known), N)
    expected = scores + (every(expert, known, relation) * weights[:, None]).sum(2)
    expert.add_to(scores, known, relation, weights)
    torch.testing.assert_close(scores, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_get_the_values_of_their_candidates(kind: str) -> None:
    kg = random_kg(0)
    expert = fitted(kind, kg)
    known, relation = (torch.cat([each, each[:3]]) for each in some_queries(0))
    weights = torch.randn(len(known), len(expert.values))
    weights[-3:] = weights[:3]
    expected = torch.randn(len(known), N)
    scores = expected.clone()
    expert.add_to(expected, known, relation, weights)
    add = expert.block_adder(known, relation, weights)
    for block in torch.arange(N).split(7):
        some = scores[:, block].contiguous()
        add(some, block)
        scores[:, block] = some
    torch.testing.assert_close(scores, expected)


def test_what_was_found_for_some_queries_is_not_sought_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kg = random_kg(0)
    expert, sought = fitted("contexts", kg), []
    found = type(expert).found
    monkeypatch.setattr(
        type(expert), "found", lambda *arguments: sought.append(arguments) or found(*arguments)
    )
    known, relation = some_queries(0)
    expert.block_adder(known, relation, torch.ones(len(known), 2))
    values = every(expert, known, relation)
    assert len(sought) == 1
    assert torch.equal(every(expert, known[1:], relation[1:]), values[1:])
    assert len(sought) == 2
    expert.attach(facts_of(replace(kg, train=kg.train[::2])))
    assert not torch.equal(every(expert, known[1:], relation[1:]), values[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_neither_batches_nor_threads_nor_the_order_of_queries_matter(kind: str) -> None:
    kg = random_kg(1)
    expert = fitted(kind, kg)
    known, relation = some_queries(1)
    expected = every(expert, known, relation)
    mixed = torch.randperm(len(known), generator=torch.Generator().manual_seed(0))
    n_threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        again = fitted(kind, kg)
        assert torch.equal(every(again, known[mixed], relation[mixed]), expected[mixed])
    finally:
        torch.set_num_threads(n_threads)
    parts = [every(again, *part) for part in zip(known.split(3), relation.split(3), strict=True)]
    assert torch.equal(torch.cat(parts), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_lines_does_not_matter(kind: str) -> None:
    kg = random_kg(1)
    shuffled = replace(kg, train=kg.train.flip(0))
    queries = some_queries(1)
    assert torch.equal(every(fitted(kind, kg), *queries), every(fitted(kind, shuffled), *queries))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "heat"])
def test_a_querys_own_triple_says_nothing_for_it(kind: str) -> None:
    kg = random_kg(2)
    expert = fitted(kind, kg)
    told = 0
    for h, r, t in [*kg.train[::3].tolist(), [3, kg.relations.ids["r0"], 3]]:
        fewer = KINDS[kind]()
        fewer.load_state_dict(expert.state_dict())
        fewer.attach(facts_of(without(kg, (h, r, t))))
        for known, relation, candidate in ((h, r, t), (t, r + R, h)):
            query = torch.tensor([known]), torch.tensor([relation]), torch.tensor([[candidate]])
            assert torch.equal(expert.at(*query), fewer.at(*query)), (h, r, t)
            told += int(expert.at(*query).any())
    assert told


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_learned_is_stored(kind: str, tmp_path: Path) -> None:
    kg = random_kg(0)
    expert = fitted(kind, kg)
    torch.save(expert.state_dict(), tmp_path / "expert.pt")
    again = KINDS[kind]()
    again.load_state_dict(torch.load(tmp_path / "expert.pt", weights_only=True))
    again.attach(facts_of(kg))
    queries = some_queries(0)
    assert torch.equal(every(again, *queries), every(expert, *queries))


@pytest.mark.parametrize("kind", KINDS)
def test_of_no_triple_nothing_is_known(kind: str) -> None:
    kg = random_kg(0)
    expert = KINDS[kind]()
    expert.fit(facts_of(replace(kg, train=kg.train[:0])), None, 0)
    known, relation = some_queries(0)
    assert not every(expert, known, relation).any()
    scores = torch.zeros(len(known), N)
    expert.add_to(scores, known, relation, torch.ones(len(known), len(expert.values)))
    assert not scores.any()
    assert expert.why(0, 0, 1) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "frequency"])
def test_of_an_isolated_entity_nothing_is_known(kind: str) -> None:
    expert = fitted(kind, random_kg(0))
    known = torch.full((2 * R,), N - 1)
    assert not every(expert, known, torch.arange(2 * R)).any()


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_reasons_where_there_is_a_value(kind: str) -> None:
    kg = random_kg(0)
    expert = fitted(kind, kg)
    oracle = Oracle(kg, neighbors_of(kg, 0))
    known, relation = some_queries(0)
    values = every(expert, known, relation)
    for row, (h, r) in enumerate(zip(known.tolist(), relation.tolist(), strict=True)):
        for t in range(N):
            reasons = expert.why(h, r, t)
            assert bool(reasons) == bool((values[row, t] > 0).any())
            assert all(holds(reason, oracle, h, r, t) for reason in reasons)


def holds(reason: Reason, oracle: Oracle, h: int, r: int, t: int) -> bool:
    """Do the triples say so?"""
    edges = oracle.edges
    match reason:
        case Vote(neighbor, weight):
            return (neighbor, r, t) in edges and (neighbor, pytest.approx(weight)) in oracle.near[h]
        case SimilarAnswer(answer, weight):
            return (h, r, answer) in edges and (t, pytest.approx(weight)) in oracle.near[answer]
        case PathReason(relations, entities, confidence):
            steps = zip(entities[:-1], relations, entities[1:], strict=True)
            ends = (entities[0], entities[-1]) == (h, t)
            return ends and all(step in edges for step in steps) and 0 < confidence < 1
        case Context(q, d, confidence):
            return (h, q, d) in edges and 0 < confidence < 1
        case Popular(times):
            return times == sum((x, r, t) in edges for x in range(N) if x != h)
        case LinkedReason(relation):
            return (h, relation, t) in edges and relation != r
    return True


def test_popular_answers_are_told_alike_one_by_one_and_all_at_once() -> None:
    kg = random_kg(0)
    expert = fitted("frequency", kg)
    known, relation = some_queries(0)
    scores = torch.zeros(len(known), N)
    expert.add_to(scores, known, relation, torch.ones(len(known), 1))
    assert torch.equal(scores, every(expert, known, relation)[:, :, 0])
