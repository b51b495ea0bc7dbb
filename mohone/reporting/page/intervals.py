"""How sure a gain is: its 95 % confidence interval, paired by query.

The interval is the normal theory's, mean +- t * standard error of the differences of each query, not the
bootstrap's: it is that of the paired t-test whose p-value stands beside, so star and interval never disagree;
there is no chance in it; and it can be had from a result that kept gain and p-value alone. With thousands of
queries the two are nearly the same (`tests/reporting/page/test_intervals.py` compares them).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mohone.core.config import Plain
from mohone.evaluation.settings import TESTED

LEVEL = 0.95
_LEAST_P = 1e-300  # Of what is smaller, the interval is drawn as wide as of this: a little too wide.


class Interval(NamedTuple):
    """Where a gain lies, and what the interval was made from: `ranks` or `p-value`."""

    low: float
    high: float
    source: str


def interval_of_ranks(metric: str, before: np.ndarray, after: np.ndarray) -> Interval | None:
    """From the ranks of the same queries, `(n,)` each; None of a single query.

    Args:
        metric: one of `TESTED`.
        before: of the baseline.
        after: of the infused model.

    Example:
        >>> low, high, _ = interval_of_ranks("mrr", np.array([1, 2, 4, 4]), np.array([1, 1, 2, 4]))
        >>> f"{low:.4f} {high:.4f}"
        '-0.1934 0.5684'
    """
    value = TESTED[metric].of_ranks
    difference = np.asarray(value(after), np.float64) - np.asarray(value(before), np.float64)
    if len(difference) < 2:
        return None
    error = float(difference.std(ddof=1)) / math.sqrt(len(difference))
    return _around(float(difference.mean()), error, len(difference), "ranks")


def interval_of_test(metric: str, test: Plain, n_queries: int | None) -> Interval | None:
    """From gain and p-value of the paired t-test, which say what the standard error was.

    None where they do not: of Hits@10, whose test is another, and of a gain that has no variance.

    Args:
        metric: one of `TESTED`.
        test: `delta` and `p_value`.
        n_queries: None: many.
    """
    delta, p_value = float(test["delta"]), float(test["p_value"])
    if metric != "mrr":
        return None
    if delta == 0:
        return Interval(0.0, 0.0, "p-value") if p_value == 1 else None
    if not 0 <= p_value < 1:
        return None
    error = abs(delta) / _quantile(max(p_value, _LEAST_P) / 2, n_queries)
    return _around(delta, error, n_queries, "p-value")


def _around(mean: float, error: float, n_queries: int | None, source: str) -> Interval:
    half = error * _quantile((1 - LEVEL) / 2, n_queries)
    return Interval(mean - half, mean + half, source)


def _quantile(upper: float, n_queries: int | None) -> float:
    """What a t-distributed value exceeds with this probability."""
    from scipy import stats  # Takes a second, which help and typos should not.

    return float(stats.t.isf(upper, np.inf if n_queries is None else n_queries - 1))
