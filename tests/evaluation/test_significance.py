import numpy as np
import pytest
import torch
from scipy import stats

from mohone.evaluation.ranks import Ranks
from mohone.evaluation.significance import compare


def ranks_of(values: np.ndarray) -> Ranks:
    ranks = torch.from_numpy(values)
    return Ranks(ranks, ranks, torch.full_like(ranks, 1000))


def test_equal_ranks_differ_by_chance_only() -> None:
    ranks = ranks_of(np.array([1, 5, 20]))
    assert compare(ranks, ranks) == {
        "mrr": {"delta": 0.0, "p_value": 1.0},
        "hits@10": {"delta": 0.0, "p_value": 1.0},
    }


def test_p_values_equal_the_written_out_tests() -> None:
    generator = np.random.default_rng(0)
    before = generator.integers(1, 40, 300)
    after = np.maximum(1, before - generator.integers(-3, 6, 300))
    found = compare(ranks_of(before), ranks_of(after))

    difference = 1 / after - 1 / before
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(300))
    assert found["mrr"]["p_value"] == pytest.approx(2 * stats.t.sf(abs(t), 299))
    assert found["mrr"]["delta"] == pytest.approx(difference.mean())

    won, lost = ((after <= 10) & (before > 10)).sum(), ((after > 10) & (before <= 10)).sum()
    tail = sum(stats.binom.pmf(k, won + lost, 0.5) for k in range(max(won, lost), won + lost + 1))
    assert found["hits@10"]["p_value"] == pytest.approx(min(1.0, 2 * tail))
    assert found["hits@10"]["delta"] == pytest.approx((won - lost) / 300)
