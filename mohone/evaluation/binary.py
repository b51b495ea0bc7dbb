"""How good a classification of triples is: by scores, by probabilities.

Four formulas, which the tests hold against loops: too few for a dependency on scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from mohone.core.parallel import Array

N_BINS = 10


def roc_auc(values: Array, truth: Array) -> float:
    """The chance that a true one has a higher value than a false one; ties count half.

    Args:
        values: `(n,)`.
        truth: `(n,)` of bool, some of both.

    Example:
        >>> roc_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, True, False, True]))
        0.875
    """
    n_true = int(truth.sum())
    ranks = rankdata(values)[truth].sum()
    return float((ranks - n_true * (n_true + 1) / 2) / (n_true * (len(truth) - n_true)))


def average_precision(values: Array, truth: Array) -> float:
    """Precision at each distinct value, weighed by the recall that it adds.

    Example:
        >>> average_precision(np.array([0.9, 0.8, 0.7]), np.array([True, False, True])) == (1 + 2 / 3) / 2
        True
    """
    order = np.argsort(-values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order])), len(order) - 1)
    hits = truth[order].cumsum()[ends]
    return float((np.diff(hits, prepend=0) * hits / (ends + 1)).sum() / hits[-1])


def brier_score(probability: Array, truth: Array) -> float:
    """The mean squared difference of probability and truth; 0.25 for a coin, 0 is best."""
    return float(((probability - truth) ** 2).mean())


def reliability(probability: Array, truth: Array, n_bins: int = N_BINS) -> list[dict[str, Any]]:
    """What share is true where the probability says so much: of bins of equal width, those with triples.

    Returns:
        for each bin where it begins and ends, how many triples it has, their mean probability, and the share
        of them that is true.

    Example:
        >>> reliability(np.array([0.9, 0.95, 0.1]), np.array([True, False, False]))[-1]
        {'from': 0.9, 'to': 1.0, 'n': 2, 'probability': 0.925, 'true': 0.5}
    """
    place = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    return [
        {
            "from": i / n_bins,
            "to": (i + 1) / n_bins,
            "n": int((place == i).sum()),
            "probability": float(probability[place == i].mean()),
            "true": float(truth[place == i].mean()),
        }
        for i in np.unique(place).tolist()
    ]
