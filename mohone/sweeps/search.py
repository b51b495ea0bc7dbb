"""A search for settings: trials that Optuna proposes, each a job, and the best ones as a recipe.

All that a search knows lies in its folder: a killed one goes on, and comes to what it would have.
"""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, IntervalSweep, Override, RangeSweep
from omegaconf import DictConfig, OmegaConf

from mohone.configuration.compose import check_keys
from mohone.configuration.overrides import override
from mohone.configuration.recipes import family_of
from mohone.core.config import CHOICES
from mohone.core.errors import ConfigError, DataError, MohoneError, require_bool, require_int
from mohone.core.files import write_text
from mohone.reporting.results import RESULT, read_finished, read_result
from mohone.sweeps.journal import MUST_REACH, open_study
from mohone.sweeps.pruning import Course, course_of, note_course, note_least

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

STUDY = "search.log"  # Optuna's journal of all trials.
RECIPE = Path("recipe") / "found.yaml"
_SEARCHED = ("kge_model.", "training.", "dim")
Space = dict[str, Override]


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
    fixed, space = space_of(typed, spaces.get(family_of(jobs.config.hydra.runtime.choices.kge_model), {}))
    (start,) = jobs.run(0, [fixed])
    if math.isnan(start):
        raise ConfigError(
            "The first job of a search, with the settings there are, must end well, but failed."
        )
    distributions = {
        key: distribution(override, OmegaConf.select(jobs.config_of(0), key))
        for key, override in space.items()
    }
    study = _open_study(jobs, distributions, start)
    while numbers := _next(study, distributions, n_trials, jobs):
        trials = [study.trials[number] for number in numbers]
        values = jobs.run(numbers[0], [[*fixed, *_overrides(trial)] for trial in trials])
        for number, value in zip(numbers, values, strict=True):
            told = _tell(study, number, value, jobs.course_of(number))
            best = f"best {study.best_value:.4f} (trial {study.best_trial.number})"
            print(f"search: {number + 1} of {n_trials} trials, trial {number}: {told}, {best}", flush=True)
    return _write_recipe(jobs, study, start)


def space_of(typed: list[str], usual: dict[str, str]) -> tuple[list[str], Space]:
    """What every trial has, and what is searched: a key that was typed goes before the usual ones.

    Raises:
        ConfigError: several values for what is no setting of a model or a training.

    Example:
        >>> usual = {"training.a": "choice(1,2)", "training.b": "choice(3,4)"}
        >>> fixed, space = space_of(["training.a=1"], usual)
        >>> fixed, list(space)
        (['training.a=1'], ['training.b'])
    """
    parser = OverridesParser.create()
    given = parser.parse_overrides(typed)
    keys = {each.get_key_element() for each in given}
    more = parser.parse_overrides([f"{key}={text}" for key, text in usual.items() if key not in keys])
    space = {each.get_key_element(): each for each in (*more, *given) if each.is_sweep_override()}
    for key, each in space.items():
        if not key.startswith(_SEARCHED):
            raise ConfigError(f"`{key}` must have one value in a search, which is of one model and data set.")
        sweep = each.value()
        if isinstance(sweep, IntervalSweep) and not _rises(sweep):
            ends = f"interval({sweep.start},{sweep.end})"
            raise ConfigError(
                f"`{key}` must have an interval from a lower to a higher number, but has {ends}."
            )
    if not space:
        raise ConfigError("A search must have keys with several values (training.lr='interval(0.1,1)').")
    return [str(each.input_line) for each in given if not each.is_sweep_override()], space


def _rises(sweep: IntervalSweep) -> bool:
    return sweep.start is not None and sweep.end is not None and sweep.start < sweep.end


def distribution(override: Override, start: Any) -> BaseDistribution:
    """What Optuna draws for a sweep in Hydra's words, made wide enough for the value of the first job."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    key, sweep = override.get_key_element(), override.value()
    if isinstance(sweep, ChoiceSweep):
        values = [value for value in sweep.list if isinstance(value, bool | int | float | str)]
        return CategoricalDistribution(tuple(dict.fromkeys([*values, start])))
    if not isinstance(start, int | float):
        raise ConfigError(f"`{key}` must be a number to be searched in an interval, but is {start!r}.")
    if isinstance(sweep, RangeSweep):
        return CategoricalDistribution(tuple(dict.fromkeys([*sweep.range(), start])))
    assert isinstance(sweep, IntervalSweep)
    assert sweep.start is not None
    assert sweep.end is not None
    low, high, log = min(sweep.start, start), max(sweep.end, start), "log" in sweep.tags
    if log and low <= 0:
        raise ConfigError(f"`{key}` must be above 0 to be searched by its logarithm, but may be {low}.")
    if all(isinstance(value, int) for value in (low, high, start)):
        return IntDistribution(int(low), int(high), log=log)
    return FloatDistribution(float(low), float(high), log=log)


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
    if not study.trials:
        params = {key: OmegaConf.select(jobs.config_of(0), key) for key in distributions}
        first = optuna.create_trial(
            params=params,
            distributions=distributions,
            value=start,
            intermediate_values=jobs.course_of(0).validations,
        )
        study.add_trial(first)
    if study.trials[0].distributions != distributions:
        raise ConfigError(
            f"{jobs.folder} must hold a search of the same keys and values, but holds another: name a folder "
            "by `hydra.sweep.dir=FOLDER`, or delete it."
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
        yield override("evaluation.must_reach", least)


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


def _write_recipe(jobs: Jobs, study: Study, start: float) -> float:
    """Write the best trial's settings as a recipe, and say how it is taken."""
    best = study.best_trial
    config = jobs.config_of(best.number)
    chosen = config[CHOICES]
    value = float(study.best_value)
    said = (
        f"# @package _global_\n# Found by a search of {len(study.trials)} trials on validation: MRR "
        f"{value:.4f} (trial {best.number}); {start:.4f} without.\n"
        f"defaults:\n  - override /kge_model: {chosen.kge_model}\n  - override /training: {chosen.training}\n"
    )
    kept = OmegaConf.masked_copy(config, ["dim", "kge_model", "training"])
    write_text(jobs.folder / RECIPE, said + OmegaConf.to_yaml(kept))
    task = [each for each in sys.argv[1:] if each.startswith("dataset")]
    folder = os.path.relpath(jobs.folder)
    command = shlex.join(["python", "-m", "mohone.run", "--config-dir", folder, "recipe=found", *task])
    print(
        f"\n{folder}/{RECIPE}: validation MRR {value:.4f} (trial {best.number}); {start:.4f} without a search"
    )
    print(f"A job with it: {command}", flush=True)
    return value
