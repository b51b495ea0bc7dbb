"""Each expert against its oracle, and what all of them keep to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evidence.answers import Answers
from mohone.evidence.companions import MOST_ANSWERS
from mohone.evidence.contexts import Contexts
from mohone.evidence.expert import Expert
from mohone.evidence.facts import facts_of
from mohone.evidence.frequency import Frequency
from mohone.evidence.heat import Heat
from mohone.evidence.linked import Linked
from mohone.evidence.neighbors import Neighbors, random_neighbors, weigh
from mohone.evidence.paths import Paths
from mohone.evidence.reasons import Context, Popular, Reason, SimilarAnswer, Vote
from mohone.evidence.reasons import Linked as LinkedReason
from mohone.evidence.reasons import Path as PathReason
from mohone.evidence.votes import Votes
from tests.evidence import oracles
from tests.evidence.oracles import N, Oracle, R, chances, random_kg, some_queries, without
from tests.helpers.graphs import kg_of

KINDS: dict[str, Callable[[], Expert]] = {
    "votes": Votes,
    "answers": Answers,
    "heat": Heat,
    "paths": lambda: Paths(longest=3),
    "contexts": Contexts,
    "frequency": Frequency,
    "linked": Linked,
}
SEEDS = range(3)


def neighbors_of(kg: KnowledgeGraph, seed: int, k: int = 4) -> Neighbors:
    rows = random_neighbors(N, k, seed, ~kg.seen_entities)
    vectors = torch.rand(N, 3, generator=torch.Generator().manual_seed(seed))
    return weigh(rows, vectors)


def fitted(kind: str, kg: KnowledgeGraph, seed: int = 0) -> Expert:
    expert = KINDS[kind]()
    expert.fit(facts_of(kg), neighbors_of(kg, seed), seed)
    return expert


def every(expert: Expert, known: Tensor, relation: Tensor) -> Tensor:
    """The values of all entities: `(batch, N, n_values)`."""
    return expert.at(known, relation, torch.arange(N).repeat(len(known), 1))


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


@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_paths_are_those_of_all_simple_walks(seed: int, longest: int) -> None:
    kg = random_kg(seed, n_triples=60)
    oracle = Oracle(kg, neighbors_of(kg, seed))
    rules = oracle.rules(longest, 0.03)
    expert = Paths(longest=longest, min_confidence=0.03)
    expert.fit(facts_of(kg), None, seed)
    found = {
        (tuple(part for part in body if part >= 0), r): confidence
        for r in range(2 * R)
        for body, confidence in zip(
            expert.bodies[expert.starts[r] : expert.starts[r + 1]].tolist(),
            expert.confidences[expert.starts[r] : expert.starts[r + 1]].tolist(),
            strict=True,
        )
    }
    assert found == pytest.approx(rules)
    assert max(len(body) for body, _ in rules) == longest
    known, relation = some_queries(seed)
    values = every(expert, known, relation)
    for row, (h, r) in enumerate(zip(known.tolist(), relation.tolist(), strict=True)):
        joined = oracle.simple_paths(h, longest)
        expected = [
            chances([rules[body, r] for body, end in joined if end == t and (body, r) in rules])
            for t in range(N)
        ]
        torch.testing.assert_close(values[row], torch.tensor(expected))


@pytest.mark.parametrize("first_walk", [0, 1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_heat_is_that_of_matrix_exponentials(seed: int, first_walk: int) -> None:
    kg = random_kg(seed)
    expert = Heat(scales=(0.5, 3.0), first_walk=first_walk)
    expert.fit(facts_of(kg), None, seed)
    known, relation = some_queries(seed)
    expected = oracles.heat(kg, (0.5, 3.0), first_walk)[known].float()
    # Values are kept in half precision.
    torch.testing.assert_close(every(expert, known, relation), expected, rtol=2e-3, atol=2e-3)


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


def test_the_best_path_has_the_best_confidence() -> None:
    kg = random_kg(0)
    expert = fitted("paths", kg)
    known, relation = some_queries(0)
    values = every(expert, known, relation)[:, :, 1].double()
    seen = 0
    for row, (h, r) in enumerate(zip(known.tolist(), relation.tolist(), strict=True)):
        for t in range(N):
            for first in expert.why(h, r, t)[:1]:
                assert isinstance(first, PathReason)
                assert chances([first.confidence])[1] == pytest.approx(float(values[row, t]), rel=1e-5)
                seen += 1
    assert seen


def test_heat_that_is_not_kept_is_the_same() -> None:
    kg = random_kg(0)
    known, relation = some_queries(0)
    expected = every(fitted("heat", kg), known, relation)
    for n_bytes in (0, 7 * 2 * N * 2):
        expert = Heat(cache_bytes=n_bytes)
        expert.fit(facts_of(kg), None, 0)
        for _ in range(2):
            assert torch.equal(every(expert, known, relation), expected)


def test_sampled_heads_are_a_matter_of_the_seed() -> None:
    facts = facts_of(random_kg(0))
    one, other = Paths(longest=2, n_heads=10), Paths(longest=2, n_heads=10)
    one.fit(facts, None, 0)
    other.fit(facts, None, 1)
    assert len(one.confidences) != len(other.confidences)


@pytest.mark.parametrize("options", [{"longest": 5}, {"longest": 0}, {"n_heads": 0}, {"min_confidence": 1.0}])
def test_options_of_paths_are_checked(options: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        Paths(**options)


@pytest.mark.parametrize("options", [{"scales": ()}, {"scales": (0.0,)}, {"first_walk": 3}])
def test_options_of_heat_are_checked(options: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ConfigError):
        Heat(**options)  # type: ignore[arg-type]


def contexts(kg: KnowledgeGraph, **options: int) -> Expert:
    """Contexts that take the graph for a large one, if `most_counted` is 0."""
    expert = Contexts(**options)
    expert.fit(facts_of(kg), None, 0)
    return expert


@pytest.mark.parametrize("seed", SEEDS)
def test_contexts_of_few_slots_are_those_of_all(seed: int) -> None:
    kg = random_kg(seed)
    queries = some_queries(seed)
    few, all_ = contexts(kg, most_counted=0), contexts(kg)
    assert torch.equal(every(few, *queries), every(all_, *queries))
    assert every(few, *queries).any()
    for known, relation in zip(*(part[:10].tolist() for part in queries), strict=True):
        for candidate in range(N):
            assert few.why(known, relation, candidate) == all_.why(known, relation, candidate)


def test_of_a_large_graph_who_has_many_answers_is_no_witness() -> None:
    n = MOST_ANSWERS + 1
    # Two askers and a hub have the same edge; the askers have one answer in common with the hub's many.
    lines = [f"{who} same place" for who in ("a", "b", "c", "hub")]
    lines += [f"hub r t{i:04}" for i in range(n)] + ["a r t0000", "b r t0000", "a r t0001"]
    kg = kg_of({"train": lines, "valid": ["c r t0000"], "test": ["c r t0001"]})
    of, r = kg.entities.ids, torch.tensor([kg.relations.ids["r"]])
    answers = torch.tensor([[of["t0000"], of["t0001"]]])
    expected = {0: [2, 0], 10_000: [3, 2]}  # Witnesses: of the three that have the edge, but for c.
    for most_counted, hits in expected.items():
        expert = contexts(kg, most_counted=most_counted)
        best = expert.at(torch.tensor([of["c"]]), r, answers)[0, :, 1].double()
        assert best.tolist() == pytest.approx([chances([n / 8])[1] if n else 0.0 for n in hits], rel=1e-5)


@pytest.mark.parametrize("first_walk", [0, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_heat_followed_to_the_end_is_that_of_matrix_exponentials(seed: int, first_walk: int) -> None:
    kg = random_kg(seed)
    expert = Heat(scales=(0.5, 3.0), first_walk=first_walk, most_dense=0, thinnest=0.0)
    expert.fit(facts_of(kg), None, seed)
    known, relation = some_queries(seed)
    expected = oracles.heat(kg, (0.5, 3.0), first_walk)[known].float()
    torch.testing.assert_close(every(expert, known, relation), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("thinnest", [0.021, 0.21])
@pytest.mark.parametrize("seed", SEEDS)
def test_thin_heat_counts_as_spread_by_degrees(seed: int, thinnest: float) -> None:
    kg = random_kg(seed)
    expert = Heat(scales=(0.5, 3.0), first_walk=1, most_dense=0, thinnest=thinnest)
    expert.fit(facts_of(kg), None, seed)
    known, relation = some_queries(seed)
    expected = oracles.thin_heat(kg, (0.5, 3.0), 1, thinnest)[known].float()
    assert not torch.allclose(expected, oracles.heat(kg, (0.5, 3.0), 1)[known].float(), atol=0.1)
    torch.testing.assert_close(every(expert, known, relation), expected, rtol=2e-3, atol=2e-3)
    weights, scores = torch.randn(len(known), 2), torch.zeros(len(known), N)
    expert.add_to(scores, known, relation, weights)
    torch.testing.assert_close(scores, (expected * weights[:, None]).sum(2), rtol=2e-3, atol=4e-3)


def test_a_body_of_too_many_steps_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kg = random_kg(0)
    expert = fitted("paths", kg)
    queries = some_queries(0)
    whole = every(expert, *queries)
    monkeypatch.setattr("mohone.evidence.paths._LARGE", 0)
    assert torch.equal(every(expert, *queries), whole)
    monkeypatch.setattr("mohone.evidence.paths.MOST_STEPS", 8)
    fewer = every(expert, *queries)
    assert ((fewer == 0) & (whole > 0)).any()
    assert fewer.any()
    assert (fewer <= whole).all()


def test_bodies_are_as_long_as_can_be_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    kg = random_kg(0, n_triples=60)
    monkeypatch.setattr("mohone.evidence.path_rules._LARGEST", N * (2 * R + 1) ** 3)
    expert = Paths()
    expert.fit(facts_of(kg), None, 0)
    assert expert.bodies.shape[1] == 2
    with pytest.raises(ConfigError, match="`longest` must be smaller for 4 relations, but is 3"):
        Paths(longest=3).fit(facts_of(kg), None, 0)


def test_popular_answers_are_told_alike_one_by_one_and_all_at_once() -> None:
    kg = random_kg(0)
    expert = fitted("frequency", kg)
    known, relation = some_queries(0)
    scores = torch.zeros(len(known), N)
    expert.add_to(scores, known, relation, torch.ones(len(known), 1))
    assert torch.equal(scores, every(expert, known, relation)[:, :, 0])
