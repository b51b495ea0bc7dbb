"""Which trials of a search are given up, by a loop over all courses."""

from __future__ import annotations

import random
import statistics

from mohone.sweeps.pruning import medians


def slow(courses: list[dict[int, float]]) -> list[list[float]]:
    epochs = sorted({epoch for course in courses for epoch in course})
    out = []
    for epoch in epochs[1:]:
        bests = []
        for course in courses:
            best = 0.0
            for at in sorted(course):
                if at <= epoch and course[at] > best:
                    best = course[at]
            bests.append(best)
        out.append([epoch, statistics.median(bests)])
    return out


def test_the_median_of_the_best_until_each_epoch() -> None:
    lot = random.Random(0)
    for n in (5, 6, 9):
        courses = [{epoch: lot.random() for epoch in range(2, lot.randint(3, 12), 2)} for _ in range(n)]
        assert medians(courses) == slow(courses)
        assert medians([*courses, {}]) == slow(courses)  # One of whose course nothing is known.


def test_few_courses_judge_nobody() -> None:
    assert medians([{1: 0.5, 2: 0.6}] * 4) == []
    assert medians([{1: 0.5}] * 5) == []
    assert medians([]) == []
