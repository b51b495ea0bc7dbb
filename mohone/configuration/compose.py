"""Composed by Hydra, resolved to plain types, checked: the configuration of a job."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Override
from hydra.errors import OverrideParseException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from mohone.configuration.faulty_files import is_fault
from mohone.configuration.hydra_errors import explain
from mohone.configuration.plain_values import check_plain
from mohone.configuration.recipes import CONF, applied, register_resolvers
from mohone.configuration.short_keys import full_keys
from mohone.core.config import CHOICES, Plain, check_known
from mohone.core.errors import LAST_SEED, NO_DATA, ConfigError, MohoneError, first_line, require_int
from mohone.core.files import check_file, check_folder
from mohone.core.terminal import typed

log = logging.getLogger(__name__)
RECIPE_FILES = "recipe_files"  # Beside the choices: those of the recipe that hold.
_ONE_AT_A_TIME = threading.RLock()
GROUPS = ("dataset", "kge_model", "training", "netemb", "infusion", "trainer", "logger")
VALUES = (
    "callbacks",
    "seed",
    "dim",
    "data_dir",
    "store_dir",
    "sparse",
    "allocator",
    "progress",
    "check_memory",
)
NODES = {  # Values that belong together.
    "network": ("weighting",),
    "pretrained": ("file", "frozen"),
    "given": ("model", "relations"),
    "evaluation": ("valid_queries", "valid_candidates", "must_reach"),
}
_WHOLE = ("hydra", "hydra.launcher", "hydra.sweeper")  # Hydra itself cannot do without, and does not say so.
_OWN_DATA = "mohone.data.FolderDataset"
_LATER = ("given", "evaluation")  # Jobs of an earlier version have none.
PATHS = (
    *("dataset.path", "dataset.data_dir", "dataset.store_dir", "data_dir", "store_dir"),
    *("pretrained.file", "given.model", "given.relations"),
)


def compose_plain(settings: list[str]) -> Plain:
    """The configuration of the package with these settings (`GROUP=CHOICE`, `KEY=VALUE`), for other commands.

    Raises:
        ConfigError: a setting that cannot be.

    Example:
        >>> compose_plain(["netemb=node2vec", "netemb.p=0.5"])["netemb"]["neighborhood"]["p"]
        0.5
    """
    check_choices(settings)
    try:
        with _own_hydra():
            config = compose_job("config", full_keys(settings))
    except Exception as error:
        if isinstance(error, MohoneError) or not is_fault(error):
            raise
        raise ConfigError(explain(error)) from None
    check_keys(config)
    return config


@contextmanager
def _own_hydra() -> Iterator[None]:
    """Hydra on the package's files, for one thread at a time, beside one that a program may have begun."""
    with _ONE_AT_A_TIME:
        of_program = GlobalHydra.instance().hydra
        GlobalHydra.instance().clear()
        try:
            with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
                yield
        finally:
            GlobalHydra.instance().hydra = of_program


def compose_job(name: str, overrides: list[str]) -> Plain:
    """Compose where Hydra has been initialised, and resolve; Hydra's own part is left out.

    Args:
        name: of the primary file.
        overrides: with full keys.
    """
    composed = compose(name, overrides, return_hydra_config=True)
    return to_plain(composed, split_off_choices(composed))


def split_off_choices(composed: DictConfig) -> Mapping[str, Any]:
    """The choices of a configuration's groups, and take Hydra's own part, which says them, out of it."""
    with open_dict(composed):
        hydra = composed.pop("hydra")  # It cannot be resolved without a run.
    return chosen_by(hydra)


def chosen_by(hydra: Any) -> Mapping[str, Any]:
    """The choices that Hydra's own part of a configuration says, and the recipe's files that hold by them."""
    folders = [Path(each.path) for each in hydra.runtime.config_sources if each.schema == "file"]
    choices = dict(hydra.runtime.choices)
    return {**choices, RECIPE_FILES: " ".join(applied(choices, folders))}


def to_plain(config: DictConfig, choices: Mapping[str, Any]) -> Plain:
    """Resolve all interpolations and return plain types.

    Args:
        config: as Hydra composed it.
        choices: of its groups, kept beside under `choices`.

    Raises:
        ConfigError: an interpolation that cannot be resolved, a value that is missing.
    """
    try:
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"The configuration must resolve, but: {first_line(error)}.") from None
    assert isinstance(plain, dict)
    named = {group: choices.get(group) for group in (*GROUPS, "recipe")}
    named[RECIPE_FILES] = choices.get(RECIPE_FILES)
    return {**{str(key): _typed(value, str(key)) for key, value in plain.items()}, CHOICES: named}


def _typed(value: Any, key: str) -> Any:
    """The same with all texts as they were typed, but for paths: see `mohone.core.terminal.typed`."""
    if isinstance(value, dict):
        return {each: _typed(inner, f"{key}.{each}") for each, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner, key) for inner in value]
    return typed(value) if isinstance(value, str) and key not in PATHS else value


def check_choices(arguments: Sequence[str]) -> None:
    """Refuse what no choice of a group can be, which Hydra would not say of which group.

    Args:
        arguments: of a command line; those that cannot be parsed are left to Hydra.

    Raises:
        ConfigError: `netemb=null`, `netemb=3`, `~netemb`.
    """
    parser = OverridesParser.create()
    for argument in arguments:
        if argument.startswith("-"):
            continue
        try:
            (override,) = parser.parse_overrides([argument])
        except OverrideParseException:
            continue
        if not override.key_or_group:
            raise ConfigError(f"`{argument}` must be GROUP=CHOICE or KEY=VALUE, but names nothing.")
        group = override.key_or_group
        given = "taken away" if override.is_delete() else argument.partition("=")[2]
        if group in _WHOLE:
            raise ConfigError(
                f"`{group}` must be set by its keys, as in hydra.run.dir=DIR, but as a whole is {given}."
            )
        choices = sorted(path.stem for path in (CONF / group).glob("*.yaml"))
        if (choices or "/" in group) and not _is_choice(override):
            names = f"one of {', '.join(choices)}" if choices else "the name of a choice"
            raise ConfigError(f"`{group}` must be {names}, but is {given}.")


def _is_choice(override: Override) -> bool:
    """Can its value be the name of a file? Of several values, each of them."""
    value = override.value()
    if isinstance(value, ChoiceSweep):
        return all(isinstance(each, str) for each in value.list)
    is_list = isinstance(value, list) and override.key_or_group not in (*GROUPS, "recipe")
    return (
        not override.is_delete()
        and (value is not None)
        and (is_list or not isinstance(value, list | int | float | dict))
    )


def check_keys(config: Mapping[str, Any]) -> None:
    """Refuse keys that nothing reads; those of what is built are checked when it is.

    Raises:
        ConfigError: a key that is none.
    """
    check_plain(config)
    _check_packages(config)
    check_known("", config, (*GROUPS, *NODES, *VALUES, CHOICES))
    for group in (*GROUPS, *NODES):
        if group in _LATER and group not in config:
            continue
        if not isinstance(config.get(group), Mapping):
            raise ConfigError(f"`{group}` must be a group of keys, but is {config.get(group)!r}.")
    choices = config.get(CHOICES, {})
    if not isinstance(choices, Mapping) or not all(isinstance(x, str | None) for x in choices.values()):
        raise ConfigError(f"`{CHOICES}` must be names of choices by group, but is {choices!r}.")
    callbacks = config.get("callbacks")
    if not isinstance(callbacks, list) or not all(isinstance(x, dict) and "_target_" in x for x in callbacks):
        raise ConfigError(f"`callbacks` must be a list of groups with a `_target_`, but is {callbacks!r}.")
    require_int("dim", config.get("dim"), 1)  # Of models and networks, which would name it as theirs.
    require_int("seed", config.get("seed"), 0, LAST_SEED)
    if not isinstance(config.get("store_dir"), str):
        raise ConfigError(f"`store_dir` must be a folder, but is {config.get('store_dir')!r}.")
    for group, keys in NODES.items():
        check_known(f"{group}.", config.get(group, ()), keys)


def _check_packages(config: Mapping[str, Any]) -> None:
    """Refuse what stands in a group that has no keys of its own, but sets those of others."""
    for group in ("recipe", "experiment"):
        if group in config:
            raise ConfigError(
                f"The file of `{group}` must begin with the line `# @package _global_`, but does not."
            )


def absolute_paths(config: Plain, folder: Path) -> Plain:
    """Make the configured paths mean the same wherever the job runs: relative ones start at `folder`.

    Raises:
        ConfigError: one that is none.
    """
    out = {key: dict(value) if isinstance(value, dict) else value for key, value in config.items()}
    for dotted in PATHS:
        group, _, key = dotted.rpartition(".")
        node: Plain = out.get(group, {}) if group else out
        if isinstance(node.get(key), int | float):
            node[key] = str(node[key])  # A folder called 2024 is a number to YAML.
        if not isinstance(node.get(key), str | None) or node.get(key) == "" or "\0" in str(node.get(key)):
            raise ConfigError(f"`{dotted}` must be a path, but is {node[key]!r}.")
        if isinstance(node.get(key), str):
            node[key] = str((folder / Path(node[key]).expanduser()).resolve())
    return out


def check_paths(config: Plain) -> None:
    """Refuse, before anything that takes seconds is imported, files and folders that are not there.

    Args:
        config: with absolute paths.

    Raises:
        ConfigError, DataError: one that a job is to read and that is not given or not there.
    """
    dataset, vectors = config["dataset"], config["pretrained"].get("file")
    if dataset.get("_target_") == _OWN_DATA:
        if not dataset.get("path"):
            raise ConfigError(NO_DATA)
        check_folder("dataset.path", Path(dataset["path"]))
    check_file("pretrained.file", Path(vectors) if vectors else None)


def as_trained(config: Plain, say: bool = True) -> Plain:
    """The same with the precision that training has where this one cannot be: it stands in the result."""
    trainer = config["trainer"]
    if trainer.get("accelerator") == "cpu" and trainer.get("precision") == "16-mixed":
        if say:
            log.warning("trainer.precision: a CPU has no 16-mixed; trained in bf16-mixed")
        return {**config, "trainer": {**trainer, "precision": "bf16-mixed"}}
    return config


register_resolvers()
