"""What NumPy has no quick word for."""

from __future__ import annotations

import numpy as np

from mohone.core.parallel import Array


def sorted_distinct(numbers: Array) -> Array:
    """The distinct numbers, ascending; `numbers` itself is sorted, so that no copy is held.

    `np.unique` of NumPy 2.3 and later hashes: of 64-bit codes of triples it takes twenty times as long.

    >>> sorted_distinct(np.array([3, 1, 3, 2])).tolist()
    [1, 2, 3]
    """
    numbers.sort()
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]
