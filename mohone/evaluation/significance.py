"""Is the infused model better than its baseline by more than chance? Paired tests, query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # Those who only read results need no torch.
    from mohone.evaluation.ranks import Ranks


def compare(baseline: Ranks, infused: Ranks) -> dict[str, dict[str, float]]:
    """Gain and two-sided p-value of the same queries under two models.

    MRR: the paired t-test on reciprocal ranks (a statement about their mean, which is what is reported).
    Hits@10: the exact McNemar test, a sign test on the queries that only one of the two models hits. The
    two queries of one triple count as independent, as is usual.
    """
    before, after = baseline.mean.numpy(), infused.mean.numpy()
    return {
        "mrr": paired(1 / before, 1 / after),
        "hits@10": _mcnemar(before <= 10, after <= 10),
    }


def paired(before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """Mean gain of `after` over `before`, `(n,)` each, and the p-value of the paired t-test."""
    difference = after - before
    if len(difference) < 2 or not np.any(difference != difference[0]):
        # No variance: nothing changed, or everything by the same amount, which no t-test can weigh.
        return {"delta": float(difference.mean()), "p_value": 1.0}
    from scipy import stats  # Takes a second, which help and typos should not.

    return {
        "delta": float(difference.mean()),
        "p_value": float(stats.ttest_rel(after, before).pvalue),
    }


def _mcnemar(before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    from scipy import stats

    won, lost = int((after & ~before).sum()), int((before & ~after).sum())
    p_value = float(stats.binomtest(won, won + lost).pvalue) if won + lost else 1.0
    return {"delta": float(after.mean() - before.mean()), "p_value": p_value}
