"""Is the infused model better than its baseline by more than chance? Paired tests, query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mohone.evaluation.settings import TESTED

if TYPE_CHECKING:  # Those who only read results need no torch.
    from mohone.evaluation.ranks import Ranks


def compare(baseline: Ranks, infused: Ranks) -> dict[str, dict[str, float]]:
    """Gain and two-sided p-value of the same queries under two models, by metric: see `gain_of_ranks`."""
    before, after = baseline.mean.numpy(), infused.mean.numpy()
    return {metric: gain_of_ranks(metric, before, after) for metric in TESTED}


def gain_of_ranks(metric: str, before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """Gain in one of the `TESTED` metrics and its p-value, from the ranks of the same queries, `(n,)` each.

    MRR: the paired t-test on reciprocal ranks (a statement about their mean, which is what is reported).
    Hits@10: the exact McNemar test, a sign test on the queries that only one of the two models hits. The
    two queries of one triple count as independent, as is usual.

    >>> gain_of_ranks("hits@10", np.array([5, 20, 30]), np.array([5, 10, 40]))["p_value"]
    1.0
    """
    value = TESTED[metric].of_ranks
    return (mcnemar if value(before).dtype == bool else paired)(value(before), value(after))


def paired(before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """Mean gain of `after` over `before`, `(n,)` each, and the p-value of the paired t-test.

    >>> found = paired(np.array([0.1, 0.2, 0.5]), np.array([0.2, 0.4, 0.6]))
    >>> f"{found['delta']:.4f} {found['p_value']:.4f}"
    '0.1333 0.0572'
    """
    difference = after - before
    if len(difference) < 2 or not np.any(difference != difference[0]):
        # No variance: nothing changed, or everything by the same amount, which no t-test can weigh.
        return {"delta": float(difference.mean()), "p_value": 1.0}
    from scipy import stats  # Takes a second, which help and typos should not.

    return {
        "delta": float(difference.mean()),
        "p_value": float(stats.ttest_rel(after, before).pvalue),
    }


def mcnemar(before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """Gain in the share of hits, `(n,)` true or false each, and the p-value of the exact McNemar test.

    Of five queries that one model alone hits, the later one hits all:

    >>> mcnemar(np.array([False] * 5 + [True] * 5), np.array([True] * 10))
    {'delta': 0.5, 'p_value': 0.0625}
    """
    from scipy import stats

    won, lost = int((after & ~before).sum()), int((before & ~after).sum())
    p_value = float(stats.binomtest(won, won + lost).pvalue) if won + lost else 1.0
    return {"delta": float(after.mean() - before.mean()), "p_value": p_value}
