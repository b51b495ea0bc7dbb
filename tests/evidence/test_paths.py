"""Paths: rules from all simple walks, their bounds, the best of them."""

from __future__ import annotations

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.evidence.facts import facts_of
from mohone.evidence.paths import Paths
from mohone.evidence.reasons import Path as PathReason
from tests.evidence.experts import SEEDS, every, fitted, neighbors_of
from tests.evidence.oracles import N, Oracle, R, chances, random_kg, some_queries


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


def test_a_body_of_too_many_steps_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kg = random_kg(0)
    queries = some_queries(0)
    whole = every(fitted("paths", kg), *queries)
    monkeypatch.setattr("mohone.evidence.paths._LARGE", 0)
    assert torch.equal(every(fitted("paths", kg), *queries), whole)
    monkeypatch.setattr("mohone.evidence.paths.MOST_STEPS", 8)
    fewer = every(fitted("paths", kg), *queries)
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
