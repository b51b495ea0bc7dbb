"""Which trials of a search are given up: those that lag, by their validations, behind the trials before them.

This is Optuna's median rule, reckoned once when a trial is drawn and handed to its job as a setting: what
becomes of it depends on no job that runs meanwhile, and a killed search comes to what it would have come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from mohone.core.config import Plain
from mohone.opened.curves import curves_of
from mohone.sweeps.journal import MUST_REACH
from mohone.training.settings import VALID_MRR

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial, Trial

_FIRST = 5  # Trials that came to their end before one is given up.


@dataclass(frozen=True)
class Course:
    """The validations of a trial.

    Attributes:
        validations: the MRR by epoch, from 1.
        given_up: after which epoch it was; 0: it was not.
    """

    validations: dict[int, float]
    given_up: int = 0


def course_of(result: Plain) -> Course:
    """The course of a job, by its result."""
    if reached := result.get("reached"):
        return Course({reached["epoch"]: reached["valid_mrr"]}, reached["epoch"])
    steps = curves_of(result).get("baseline", [])  # Which count from 0, as Lightning does.
    scores = [step.get(VALID_MRR) for step in steps]
    return Course({epoch: score for epoch, score in enumerate(scores, start=1) if score is not None})


def note_course(study: Study, number: int, course: Course) -> None:
    """Let a study know a trial's validations, but those that a killed search had noted."""
    trial = study.trials[number]
    for epoch in sorted(course.validations.keys() - trial.intermediate_values.keys()):
        _begun(study, trial).report(course.validations[epoch], epoch)


def note_least(study: Study, number: int) -> None:
    """Note what a trial must reach, unless a killed search has: what half of those that ended had reached."""
    trial = study.trials[number]
    if MUST_REACH not in trial.user_attrs:
        _begun(study, trial).set_user_attr(MUST_REACH, least_of(study.trials))


def _begun(study: Study, trial: FrozenTrial) -> Trial:
    """A trial that can be written to."""
    import optuna

    return optuna.trial.Trial(study, trial._trial_id)


def least_of(trials: Sequence[FrozenTrial]) -> list[list[Any]]:
    """What half of the trials that came to their end had reached, by epochs."""
    return medians([trial.intermediate_values for trial in trials if trial.state.name == "COMPLETE"])


def medians(courses: Sequence[dict[int, float]]) -> list[list[Any]]:
    """The median of the best MRRs until each epoch but the first that was validated; of few courses none.

    Example:
        >>> medians([{5: 0.1, 10: 0.2}] * 3 + [{5: 0.1, 10: 0.05}] * 2), medians([{5: 0.1, 10: 0.2}] * 4)
        ([[10, 0.2]], [])
    """
    courses = [course for course in courses if course]
    if len(courses) < _FIRST:
        return []
    epochs = sorted({epoch for course in courses for epoch in course})
    return [[epoch, median(_best_until(epoch, course) for course in courses)] for epoch in epochs[1:]]


def _best_until(epoch: int, course: dict[int, float]) -> float:
    return max((mrr for at, mrr in course.items() if at <= epoch), default=0.0)
