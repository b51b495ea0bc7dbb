"""A look at all of a sweep before its first job: what cannot be is refused while nothing has been run."""

from __future__ import annotations

import copy
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeperConf
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from mohone.configuration.compose import (
    absolute_paths,
    as_trained,
    check_keys,
    check_paths,
    compose_job,
    split_off_choices,
    to_plain,
)
from mohone.core.config import Plain
from mohone.core.errors import ConfigError

_USUAL_SWEEPER = BasicSweeperConf._target_


def check_run(config: DictConfig) -> None:
    """Make the plan of a single job, and look whether what it reads is there, before it has a folder.

    Files of another tool's model are left to the job: to open them may take long.

    Args:
        config: with Hydra's own.

    Raises:
        ConfigError, DataError: what cannot be.
    """
    config = copy.deepcopy(config)
    with read_write(config), open_dict(config):
        config.hydra.runtime.output_dir = str(Path(config.hydra.run.dir).absolute())
    HydraConfig.instance().set_config(config)  # Values may refer to it.
    cwd, folder = Path(config.hydra.runtime.cwd), Path(config.hydra.runtime.output_dir)
    plain = to_plain(config, split_off_choices(config))
    check_keys(plain)
    plain = as_trained(absolute_paths(plain, cwd), say=False)
    check_paths(plain)

    from mohone.core.runtime import prepare_process  # Torch and Lightning take seconds.
    from mohone.data import FolderDataset
    from mohone.experiment.plan import make_plan

    prepare_process(plain)
    plan = make_plan({**plain, "given": {}}, folder)
    if isinstance(plan.dataset, FolderDataset):
        plan.dataset.check()


def sweeps_all(config: DictConfig) -> bool:
    """Are a multirun's jobs all combinations of its choices? Only Hydra's usual sweeper can tell before."""
    return bool(config.hydra.sweeper.get("_target_", _USUAL_SWEEPER) == _USUAL_SWEEPER)


def choices_of(config: DictConfig) -> list[list[str]]:
    """The overrides of a multirun: for each key those it takes in turn; each key's last word counts.

    Args:
        config: of the multirun, with Hydra's own.
    """
    params = [f"{key}={value}" for key, value in (config.hydra.sweeper.get("params") or {}).items()]
    known = GlobalHydra.instance()
    loader = known.config_loader() if known.is_initialized() else None  # Which `glob` asks.
    overrides = OverridesParser.create(loader).parse_overrides([*params, *_typed(config, "task")])
    choices: dict[str, list[str]] = {}
    for each in overrides:
        key = each.get_key_element()
        if each.is_sweep_override():
            choices[key] = [f"{key}={value}" for value in each.sweep_string_iterator()]
        else:
            choices[key] = [each.input_line or key]
    return list(choices.values())


def check_sweep(config: DictConfig) -> None:
    """Make the plan of a job for each value of each key, the others at their first.

    Data are not looked at: a job whose data are not there fails alone, as it does without this.

    Raises:
        ConfigError: a value that cannot be, and that nothing was run.
    """
    if not sweeps_all(config):
        return
    choices = choices_of(config)
    first = [values[0] for values in choices]
    jobs = [first]
    for i, values in enumerate(choices):
        jobs += [[*first[:i], value, *first[i + 1 :]] for value in values[1:]]
    if len(jobs) == 1:
        return
    for overrides in jobs:
        try:
            check_job(config, overrides)
        except ConfigError as error:
            raise ConfigError(f"{error} No job was started.") from None


def _typed(config: DictConfig, kind: str) -> list[str]:
    """The overrides as they were typed: a job's number and its choices are not known before it begins."""
    typed = OmegaConf.to_container(config.hydra.overrides[kind], resolve=False)
    assert isinstance(typed, list)
    return [str(each) for each in typed]


def compose_for(config: DictConfig, overrides: list[str]) -> Plain:
    """The configuration of a job of a multirun with these overrides."""
    plain = compose_job(str(config.hydra.job.config_name), [*_typed(config, "hydra"), *overrides])
    check_keys(plain)
    return plain


def check_job(config: DictConfig, overrides: list[str]) -> None:
    """Make the plan of such a job.

    Raises:
        ConfigError: what cannot be.
    """
    from mohone.core.runtime import prepare_process
    from mohone.experiment.plan import make_plan  # Torch and Lightning take seconds.

    plain = compose_for(config, overrides)
    prepare_process(plain)
    make_plan(absolute_paths(plain, Path(config.hydra.runtime.cwd)), Path(str(config.hydra.sweep.dir)))
