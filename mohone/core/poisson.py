"""The Poisson distribution by scipy's special functions, for `scipy.stats` takes a second to import."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, pdtrc, xlogy

from mohone.core.parallel import Array


def chances(steps: Array, scale: float) -> Array:
    """How likely each number of steps is: `e^-s s^k / k!`, float64.

    >>> chances(np.arange(3), 1.0).round(4).tolist()
    [0.3679, 0.3679, 0.1839]
    """
    return np.asarray(np.exp(xlogy(steps, scale) - gammaln(steps + 1) - scale))


def chance_of_more(steps: int, scale: float) -> float:
    """How likely more than so many steps are.

    >>> round(chance_of_more(0, 1.0), 4)
    0.6321
    """
    return float(pdtrc(steps, scale))


def longest(chance: float, scale: float) -> int:
    """The least number of steps that more are taken than with at most this chance.

    >>> longest(0.5, 1.0), longest(1e-16, 5.0)
    (1, 33)
    """
    steps = 0
    while chance_of_more(steps, scale) > chance:
        steps += 1
    return steps
