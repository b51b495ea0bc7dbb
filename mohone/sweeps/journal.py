"""The journal in which Optuna keeps a search: opened whole, whatever a killed search or a disk left of it."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohone.core.errors import DataError, first_line
from mohone.training.given_up import is_least

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

MUST_REACH = "must_reach"  # What a trial had to reach, by epochs.
_BEGUN, _VALUE = 4, 5  # Optuna's numbers of lines that begin a trial, and that give it a value.
_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL")


def open_study(path: Path, n_keys: int) -> Study:
    """The study of a journal, which is made if it is not there.

    Args:
        path: of the journal.
        n_keys: that each trial has a value of.

    Raises:
        DataError: the file is no journal of a search.
    """
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    try:
        _drop_begun(path, n_keys)
        storage = JournalStorage(JournalFileBackend(str(path)))
        study = optuna.create_study(
            storage=storage, study_name="search", direction="maximize", load_if_exists=True
        )
        _check_trials(study)
    except OSError:
        raise
    except Exception as error:  # Optuna has one each for every line that is another.
        raise DataError(
            f"{path} must be the journal of a search, but is damaged ({first_line(error)}): delete "
            "it, and the same command goes on with the jobs that have ended."
        ) from error
    return study


def _drop_begun(path: Path, n_keys: int) -> None:
    """Cut off what a killed search had begun to write: half a line, a trial without all of its values.

    Such a trial is drawn again, and gets the values that it would have had.
    """
    if not path.exists():
        return
    *lines, half = path.read_bytes().split(b"\n")
    steps = [_step(number, line) for number, line in enumerate(lines, start=1)]
    if half and not half.startswith(b"{"):
        raise ValueError("its last line is no step of a search")
    kept = len(lines)
    begun = [number for number, step in enumerate(steps) if step["op_code"] == _BEGUN]
    if begun and "state" not in steps[begun[-1]]:
        after = [step["op_code"] for step in steps[begun[-1] + 1 :]]
        kept = begun[-1] if set(after) <= {_VALUE} and len(after) < n_keys else kept
    if half or kept < len(lines):
        os.truncate(path, sum(len(line) + 1 for line in lines[:kept]))


def _step(number: int, line: bytes) -> dict[str, Any]:
    try:
        step = json.loads(line)
    except (ValueError, RecursionError):
        step = None
    if not isinstance(step, dict) or "op_code" not in step:
        raise ValueError(f"line {number} is no step of a search")
    return step


def _check_trials(study: Study) -> None:
    """Refuse trials that no search could have.

    Raises:
        ValueError: such trials.
    """
    import optuna

    if study.direction != optuna.study.StudyDirection.MAXIMIZE:
        raise ValueError("the best value is not the highest")
    for trial in study.trials:
        if not _is_searched(trial, study.trials[0]):
            raise ValueError(f"trial {trial.number} is none of a search")
        optuna.create_trial(  # Which raises ValueError for a value that cannot be drawn.
            state=trial.state,
            values=trial.values,
            params=trial.params,
            distributions=trial.distributions,
        )


def _is_searched(trial: FrozenTrial, first: FrozenTrial) -> bool:
    """Is it of the same keys as the first, which ended well, and has it a number if it did?"""
    states = _STATES if trial.number else ("COMPLETE",)
    attributes = (trial.user_attrs, trial.system_attrs, trial.intermediate_values)
    steps = trial.intermediate_values
    return (
        trial.distributions == first.distributions
        and trial.state.name in states
        and (trial.state.name != "COMPLETE" or all(map(_is_number, trial.values or [None])))
        and all(isinstance(each, dict) for each in attributes)
        and all(isinstance(epoch, int) and _is_number(mrr) for epoch, mrr in steps.items())
        and is_least(trial.user_attrs.get(MUST_REACH, []))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)
