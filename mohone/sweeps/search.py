"""A search for settings: trials that Optuna proposes, each a job, and the best ones as a recipe.

All that a search knows lies in its folder: a killed one goes on, and comes to what it would have.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from mohone.configuration.by_size import AUTO
from mohone.configuration.compose import check_keys
from mohone.configuration.origins import for_the_data
from mohone.configuration.overrides import override
from mohone.configuration.recipes import family_of
from mohone.core.config import Plain
from mohone.core.errors import ConfigError, DataError, MohoneError, require_bool, require_int
from mohone.core.files import locked
from mohone.reporting.results import RESULT, read_finished, read_result
from mohone.sweeps.foresight import check_job, compose_for
from mohone.sweeps.found import RECIPE, command_with, write_recipe
from mohone.sweeps.journal import MUST_REACH, open_study
from mohone.sweeps.pruning import Course, course_of, note_course, note_least
from mohone.sweeps.space import SET_BY_SEARCH, Space, extremes, nearest_to, space_of

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

STUDY = "search.log"  # Optuna's journal of all trials.
LOCK = ".search.lock"
_FIRST = "first"  # In the journal: keys of the first job's stages, by which its data and settings are known.


@dataclass(frozen=True)
class Jobs:
    """Runs the jobs of a search, each in a folder with its number.

    Attributes:
        launcher: Hydra's.
        config: of the multirun, with Hydra's own.
        n_jobs: side by side.
        prune: are trials given up that lag behind the others?
    """

    launcher: Any
    config: DictConfig
    n_jobs: int
    prune: bool

    @property
    def folder(self) -> Path:
        """Of the search."""
        return Path(str(self.config.hydra.runtime.cwd)) / str(self.config.hydra.sweep.dir)

    def first_of(self, space: Space) -> list[str]:
        """The overrides of the first job: the settings there are, moved to where they were typed to be.

        Raises:
            ConfigError: a typed value that cannot be.
        """
        for key, each in space.typed.items():
            for value in extremes(each):
                check_job(self.config, [*space.fixed, override(key, value)])
        config = compose_for(self.config, space.fixed)
        if AUTO in _values(config, space.typed).values():  # Only then are the data looked at.
            config, _ = for_the_data(config, Path(str(self.config.hydra.runtime.cwd)))
        values = _values(config, space.typed)
        near = {key: nearest_to(each, values[key]) for key, each in space.typed.items()}
        return [*space.fixed, *(override(key, near[key]) for key in near if near[key] != values[key])]

    def run(self, first: int, jobs: list[list[str]]) -> list[float]:
        """The validation MRR of jobs with these overrides, numbered from `first`; NaN of one that failed."""
        os.chdir(str(self.config.hydra.runtime.cwd))
        return [float(job.return_value) for job in self.launcher.launch(jobs, initial_job_idx=first)]

    def course_of(self, number: int) -> Course:
        """The validations of a job, whether it came to its end or was given up."""
        return course_of(read_result(self.folder / str(number) / RESULT) or {})

    def config_of(self, number: int) -> DictConfig:
        """The settings that a job had, those that follow the size of the data among them.

        Raises:
            DataError: its result is not there, or damaged.
        """
        try:
            config = read_finished(self.folder / str(number)).get("config") or {}
            check_keys(config)
        except MohoneError as error:
            raise DataError(
                f"{self.folder / str(number)} must be a job of the search, but: {error} Delete it and "
                f"{self.folder / STUDY}, and the same command goes on with the other jobs."
            ) from None
        return OmegaConf.create(config)


def run_search(jobs: Jobs, typed: list[str], spaces: Any, n_trials: int) -> float:
    """Run what is missing of a search, and write its recipe.

    Args:
        jobs: runs them.
        typed: overrides of the command line.
        spaces: for each family of models, by key, what is searched.
        n_trials: jobs in all.

    Returns:
        the best validation MRR.

    Raises:
        ConfigError: what cannot be searched; a folder with a search of another space.
        DataError: a damaged file of the search.
    """
    require_int("hydra.sweeper.n_trials", n_trials, 1)
    require_int("hydra.sweeper.n_jobs", jobs.n_jobs, 1)
    require_bool("hydra.sweeper.prune", jobs.prune)
    _require_optuna()
    _check_places(jobs.folder)
    space = space_of(typed, spaces.get(family_of(jobs.config.hydra.runtime.choices.kge_model), {}))
    first = jobs.first_of(space)
    with locked(jobs.folder / LOCK, lambda: print("waiting for another process, which runs this search")):
        return _run(jobs, space, first, n_trials)


def _run(jobs: Jobs, space: Space, first: list[str], n_trials: int) -> float:
    """The same, of a space that can be; `first` are the overrides of the first job."""
    (start,) = jobs.run(0, [first])
    if math.isnan(start):
        other = f": if {jobs.folder} holds another search, name a folder by `hydra.sweep.dir=FOLDER`"
        raise ConfigError(
            "The first job of a search, with the settings there are, must end well, but failed"
            f"{other if (jobs.folder / STUDY).exists() else ''}."
        )
    distributions = space.distributions(_values(jobs.config_of(0), space.names))
    study = _open_study(jobs, distributions, start)
    while numbers := _next(study, distributions, n_trials, jobs):
        trials = [study.trials[number] for number in numbers]
        values = jobs.run(numbers[0], [[*space.fixed, *_overrides(trial)] for trial in trials])
        for number, value in zip(numbers, values, strict=True):
            told = _tell(study, number, value, jobs.course_of(number))
            best = f"best {study.best_value:.4f} (trial {study.best_trial.number})"
            print(f"search: {number + 1} of {n_trials} trials, trial {number}: {told}, {best}", flush=True)
    _write_recipe(jobs, study, space, start)
    return float(study.best_value)


def _values(config: DictConfig | Plain, keys: Iterable[str]) -> dict[str, Any]:
    """What a configuration has for these keys."""
    node = OmegaConf.create(config)
    return {key: OmegaConf.select(node, key) for key in keys}


def _require_optuna() -> None:
    try:
        import optuna
    except ImportError:
        raise ConfigError("experiment=search must have Optuna: pip install 'mohone[search]'.") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def _check_places(folder: Path) -> None:
    """Refuse, before any job, folders where the search has its files."""
    for path in (folder / STUDY, folder / RECIPE):
        if path.is_dir():
            raise DataError(f"{path} must be a file of the search, but is a folder.")


def _open_study(jobs: Jobs, distributions: dict[str, BaseDistribution], start: float) -> Study:
    """The study in the search's folder; a new one knows the first job."""
    import optuna

    study = open_study(jobs.folder / STUDY, len(distributions))
    keys = {name: stage["key"] for name, stage in read_finished(jobs.folder / "0")["stages"].items()}
    if not study.trials:
        study.set_user_attr(_FIRST, keys)
        first = optuna.create_trial(
            params=_values(jobs.config_of(0), distributions),
            distributions=distributions,
            value=start,
            intermediate_values=jobs.course_of(0).validations,
        )
        study.add_trial(first)
    if study.trials[0].distributions != distributions or study.user_attrs.get(_FIRST, keys) != keys:
        raise ConfigError(
            f"{jobs.folder} must hold a search of the same data, settings, keys and values, but holds "
            "another: name a folder by `hydra.sweep.dir=FOLDER`, or delete it."
        )
    return study


def _next(study: Study, distributions: dict[str, BaseDistribution], n_trials: int, jobs: Jobs) -> list[int]:
    """The numbers of the next trials: those begun and not ended, else new ones; empty: all are done.

    A trial's values depend on the seed, its number and the trials before it, whether it was killed or not.
    """
    import optuna

    begun = [trial.number for trial in study.trials if trial.state == optuna.trial.TrialState.RUNNING]
    numbers = begun[:1]
    while not begun and len(study.trials) < n_trials and len(numbers) < jobs.n_jobs:
        seed = int(jobs.config.seed) + 1_000 * len(study.trials)
        study.sampler = optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=8, constant_liar=jobs.n_jobs > 1
        )
        numbers.append(study.ask(distributions).number)
    for number in numbers if jobs.prune else ():
        note_least(study, number)
    return numbers


def _overrides(trial: FrozenTrial) -> Iterator[str]:
    yield from (override(key, value) for key, value in trial.params.items())
    if least := trial.user_attrs.get(MUST_REACH):
        yield override(SET_BY_SEARCH, least)


def _tell(study: Study, number: int, value: float, course: Course) -> str:
    """Tell the study how a trial ended; returns the same for people."""
    import optuna

    if math.isnan(value):
        study.tell(number, state=optuna.trial.TrialState.FAIL)
        return "failed"
    note_course(study, number, course)
    if course.given_up:
        study.tell(number, state=optuna.trial.TrialState.PRUNED)
        return f"{value:.4f}, given up after epoch {course.given_up}"
    study.tell(number, value)
    return f"{value:.4f}"


def _write_recipe(jobs: Jobs, study: Study, space: Space, start: float) -> None:
    """Write the best trial's settings as a recipe, and say how it is taken."""
    number = study.best_trial.number
    best = f"MRR {study.best_value:.4f} (trial {number})"
    about = f"Found by a search of {len(study.trials)} trials on validation: {best}; {start:.4f} without."
    write_recipe(jobs.folder, jobs.config_of(number), about)
    print(f"\n{os.path.relpath(jobs.folder / RECIPE)}: validation {best}; {start:.4f} without a search")
    print(f"A job with it: {command_with(jobs.folder, space.fixed)}", flush=True)
