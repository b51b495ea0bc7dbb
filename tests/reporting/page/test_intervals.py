"""The interval of a gain beside the t-test, the bootstrap, and itself from a p-value."""

import numpy as np
import pytest
from scipy import stats

from mohone.evaluation.significance import gain_of_ranks
from mohone.reporting.page.intervals import interval_of_ranks, interval_of_test


def some_ranks(n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    before = np.ceil(generator.pareto(0.7, n) + 1).clip(1, 500)
    after = np.ceil(before * generator.uniform(0.5, 1.4, n)).clip(1)
    return before, after


@pytest.mark.parametrize("metric", ["mrr", "hits@10"])
def test_from_ranks_it_is_the_paired_t_interval(metric: str) -> None:
    before, after = some_ranks()
    value = {"mrr": lambda ranks: 1 / ranks, "hits@10": lambda ranks: (ranks <= 10).astype(float)}[metric]
    expected = stats.ttest_rel(value(after), value(before)).confidence_interval(0.95)
    found = interval_of_ranks(metric, before, after)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_from_the_p_value_it_is_the_same() -> None:
    before, after = some_ranks()
    test = gain_of_ranks("mrr", before, after)
    assert 0 < test["p_value"] < 0.05
    by_ranks, by_test = interval_of_ranks("mrr", before, after), interval_of_test("mrr", test, len(before))
    assert by_ranks is not None
    assert by_test is not None
    assert by_test[:2] == pytest.approx(by_ranks[:2], rel=1e-6)
    assert (by_ranks.source, by_test.source) == ("ranks", "p-value")


def test_the_bootstrap_says_nearly_the_same() -> None:
    before, after = some_ranks()
    difference = 1 / after - 1 / before
    drawn = np.random.default_rng(0).choice(difference, (2000, len(difference))).mean(1)
    found = interval_of_ranks("mrr", before, after)
    assert found is not None
    assert found[:2] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.1 * (found.high - found.low))


def test_it_excludes_zero_just_where_the_star_stands() -> None:
    for p_value, inside in ((0.049, False), (0.051, True)):
        found = interval_of_test("mrr", {"delta": -0.01, "p_value": p_value}, 5000)
        assert found is not None
        assert (found.low < 0 < found.high) == inside


def test_a_p_value_too_small_for_a_number_gives_an_interval_a_little_too_wide() -> None:
    found = interval_of_test("mrr", {"delta": 0.1, "p_value": 0.0}, 40000)
    assert found is not None
    assert 0.09 < found.low < 0.1 < found.high < 0.11


def test_where_nothing_can_be_known_there_is_none() -> None:
    assert interval_of_test("hits@10", {"delta": 0.1, "p_value": 0.01}, 100) is None
    assert interval_of_test("mrr", {"delta": 0.1, "p_value": 1.0}, 100) is None
    assert interval_of_ranks("mrr", np.array([2.0]), np.array([1.0])) is None


def test_what_changed_nothing_has_no_width() -> None:
    found = interval_of_test("mrr", {"delta": 0.0, "p_value": 1.0}, 100)
    assert found is not None
    assert found[:2] == (0.0, 0.0)
