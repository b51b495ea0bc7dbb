"""A clock of training steps, from the end of one to the end of the next, and times scaled up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

_WARMUP, _LEAST = 3, 3


class Clock:
    """Times steps after the first few; what lies between two ticks is a whole step, its batch included.

    Args:
        seconds: timed steps are enough after so long, and when there are three of them.
        n_steps: of an epoch; the first few are not timed, but never all.
        steps: so many timed steps are enough, however long they take; None: `seconds` counts.
    """

    def __init__(self, seconds: float, n_steps: int, steps: int | None = None) -> None:
        self.seconds, self.steps = seconds, steps
        self.warmup = min(_WARMUP, n_steps // 2)
        self.times: list[float] = []
        self.examples = self.scored = 0
        self._seen, self._last = 0, time.perf_counter()

    def start(self) -> None:
        """The first step begins now."""
        self._last = time.perf_counter()

    def tick(self, count: Callable[[], tuple[int, int]]) -> bool:
        """A step has ended.

        Args:
            count: its examples and the scores that entered its loss; called while the clock stands.

        Returns:
            whether enough steps were timed.
        """
        passed = time.perf_counter() - self._last
        self._seen += 1
        if self._seen > self.warmup:
            examples, scored = count()
            self.times.append(passed)
            self.examples += examples
            self.scored += scored
        self._last = time.perf_counter()
        if self.steps is not None:
            return len(self.times) >= self.steps
        return len(self.times) >= _LEAST and sum(self.times) >= self.seconds

    def epoch(self, n_examples: int, fixed: float = 0.0) -> dict[str, Any]:
        """What was timed, scaled to an epoch of so many examples and `fixed` seconds besides its steps."""
        timed = sum(self.times)
        return {
            "steps_timed": len(self.times),
            "steps_seconds": timed,
            "step_ms": 1e3 * timed / len(self.times),
            "step_ms_median": 1e3 * statistics.median(self.times),
            "examples_timed": self.examples,
            "examples_in_epoch": n_examples,
            "fixed_seconds": fixed,
            "epoch_seconds": fixed + timed * n_examples / self.examples,
            "scored_per_second": self.scored / timed,
        }


def extrapolate(sizes: tuple[int, int], seconds: tuple[float, float], n: int) -> float:
    """The time of `n` on the line through two measurements, which noise may make level but not fall."""
    (small, large), (first, second) = sizes, seconds
    slope = (second - first) / (large - small) if large > small else second / large
    return second + (n - large) * max(slope, 0.0)
