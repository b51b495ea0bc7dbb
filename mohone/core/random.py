"""Random numbers by counter: a draw is a function of a key and its number, in whatever thread it falls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, inline="always")
def mix(state: np.uint64) -> Any:
    """A well-mixed uint64 of a state [Steele, Lea and Flood 2014: SplitMix64]."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, inline="always")
def stream(key: np.uint64, number: int) -> Any:
    """The first state of the sequence of this number under this key."""
    return mix(np.uint64(key) + _STEP * (np.uint64(number) + np.uint64(1)))


@njit(cache=True, inline="always")
def advance(state: np.uint64) -> Any:
    """The state after this one; `mix` of it is the next draw."""
    return state + _STEP


@njit(cache=True, inline="always")
def uniform(state: np.uint64) -> Any:
    """A float in [0, 1) of a state."""
    return (mix(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, inline="always")
def below(state: np.uint64, n: int) -> Any:
    """An integer in [0, n) of a state, for n < 2^31 (uneven by less than n / 2^32)."""
    return np.int64(((mix(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
