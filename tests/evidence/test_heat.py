"""Heat beside matrix exponentials: whole rows, and followed while it is not too thin."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.evidence import thin_heat
from mohone.evidence.dense_heat import DenseHeat
from mohone.evidence.facts import facts_of
from mohone.evidence.heat import Heat
from tests.evidence import oracles
from tests.evidence.experts import SEEDS, every, fitted
from tests.evidence.oracles import N, random_kg, some_queries


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


def test_heat_that_is_not_kept_is_the_same() -> None:
    kg = random_kg(0)
    known, relation = some_queries(0)
    expected = every(fitted("heat", kg), known, relation)
    for n_bytes in (0, 7 * 2 * N * 2):
        expert = Heat(cache_bytes=n_bytes)
        expert.fit(facts_of(kg), None, 0)
        for _ in range(2):
            assert torch.equal(every(expert, known, relation), expected)


def test_rows_that_are_computed_with_others_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohone.evidence.dense_heat._MANY", 1)
    kg = random_kg(0)
    known, relation = some_queries(0)
    expected = every(fitted("heat", kg), known, relation)
    for n_rows in (7, 20, N):
        expert = Heat(cache_bytes=n_rows * 2 * N * 2)
        expert.fit(facts_of(kg), None, 0)
        for some in (known[:3], known):
            assert torch.equal(every(expert, some, relation[: len(some)]), expected[: len(some)])
        rows = expert._heat
        assert isinstance(rows, DenseHeat)
        assert rows._n_kept == n_rows
        assert sorted(rows._place.unique().tolist())[-1] == n_rows - 1


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


@pytest.mark.parametrize("options", [{"scales": ()}, {"scales": (0.0,)}, {"first_walk": 3}])
def test_options_of_heat_are_checked(options: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ConfigError):
        Heat(**options)  # type: ignore[arg-type]


def test_heat_is_followed_once_for_the_same_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    expert = Heat(most_dense=0)
    expert.fit(facts_of(random_kg(0)), None, 0)
    followed = []
    follow = thin_heat.follow
    monkeypatch.setattr(
        thin_heat, "follow", lambda *arguments: followed.append(arguments) or follow(*arguments)
    )
    known, relation = some_queries(0)
    expert.block_adder(known, relation, torch.ones(len(known), 2))
    values = every(expert, known, relation)
    assert len(followed) == 1
    expert.attach(facts_of(replace(random_kg(0), train=random_kg(0).train[::2])))
    assert not torch.equal(every(expert, known, relation), values)
