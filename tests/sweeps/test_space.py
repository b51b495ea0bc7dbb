"""What a search looks for: as it was typed, and else wide enough for the first job."""

from __future__ import annotations

import pytest

from mohone.core.errors import ConfigError
from mohone.sweeps.space import distribution, extremes, nearest_to, space_of

distributions = pytest.importorskip("optuna.distributions")


def the(sweep: str) -> object:
    (override,) = space_of([f"training.a={sweep}"], {}).typed.values()
    return override


def test_what_is_typed_is_kept_or_searched() -> None:
    usual = {"training.optimizer.lr": "interval(0.1,1)", "training.objective.n3": "interval(0.1,1)"}
    space = space_of(["training.optimizer.lr=0.3", "seed=1", "dim=choice(8,16)"], usual)
    assert space.fixed == ["training.optimizer.lr=0.3", "seed=1"]
    assert (list(space.usual), list(space.typed)) == (["training.objective.n3"], ["dim"])
    drawn = space.distributions({"training.objective.n3": 0.01, "dim": 8})
    assert drawn["training.objective.n3"] == distributions.FloatDistribution(0.01, 1.0)
    assert drawn["dim"] == distributions.CategoricalDistribution((8, 16))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("kge_model=transe,complex", "`kge_model` must have one value in a search"),
        ("training.lr=0.3", "A search must have keys with several values"),
        ("training.lr=interval(5,1)", r"from a lower to a higher number, but has interval\(5\.0,1\.0\)"),
        (
            "training.lr=tag(log,interval(0,1))",
            "must be above 0 to be searched by its logarithm, but may be 0",
        ),
        ("evaluation.must_reach=[[1,0.1]]", "must be left out of a search, which sets it"),
    ],
)
def test_what_cannot_be_is_refused(typed: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        space_of([typed], {})


@pytest.mark.parametrize(
    ("sweep", "value", "near", "drawn"),
    [
        ("interval(0.4,0.5)", 0.1, 0.4, distributions.FloatDistribution(0.4, 0.5)),
        ("interval(0.4,0.5)", 0.45, 0.45, distributions.FloatDistribution(0.4, 0.5)),
        ("interval(2,4)", 30, 4, distributions.IntDistribution(2, 4)),
        ("interval(2,4)", 3.0, 3.0, distributions.FloatDistribution(2, 4)),
        ("tag(log,interval(1,4))", 2, 2, distributions.IntDistribution(1, 4, log=True)),
        ("interval(2,4)", None, 2.0, distributions.FloatDistribution(2, 4)),
        ("choice(256,512)", 128, 256, distributions.CategoricalDistribution((256, 512))),
        ("choice(0,0.3)", 0.2, 0.3, distributions.CategoricalDistribution((0, 0.3))),
        ("range(2,9,3)", 6, 5, distributions.CategoricalDistribution((2, 5, 8))),
        ("choice(both,one)", "other", "both", distributions.CategoricalDistribution(("both", "one"))),
    ],
)
def test_the_first_job_lies_within(sweep: str, value: object, near: object, drawn: object) -> None:
    override = the(sweep)
    assert nearest_to(override, value) == near
    assert type(nearest_to(override, value)) is type(near)
    assert distribution(override, near if value is not None else 2.0) == drawn


def test_what_is_tried_before_any_job() -> None:
    assert extremes(the("interval(2,4.5)")) == [2, 4.5]
    assert type(extremes(the("interval(2,4.5)"))[0]) is int
    assert extremes(the("choice(a,2)")) == ["a", 2]
    with pytest.raises(ConfigError, match="must be a number to be searched in an interval, but is None"):
        distribution(the("interval(2,4)"), None)
