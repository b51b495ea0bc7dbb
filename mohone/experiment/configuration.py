"""Composed by Hydra, resolved to plain types, checked: the configuration of a job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from mohone.core.config import CHOICES, Plain, check_known, first_line
from mohone.core.errors import ConfigError
from mohone.experiment.hydra_errors import explain
from mohone.experiment.keys import full_keys
from mohone.experiment.recipes import CONF, register_resolvers

LAST_SEED = 2**32 - 1  # Lightning's.
GROUPS = ("dataset", "kge_model", "training", "netemb", "infusion", "trainer", "logger")
VALUES = ("callbacks", "seed", "dim", "data_dir", "store_dir", "sparse", "allocator", "progress")
NODES = {"network": ("weighting",), "pretrained": ("file", "frozen")}  # Values that belong together.
PATHS = ("dataset.path", "dataset.data_dir", "pretrained.file", "data_dir", "store_dir")


def compose_plain(settings: list[str]) -> Plain:
    """The configuration of the package with these settings (`GROUP=CHOICE`, `KEY=VALUE`), for other commands.

    Raises:
        ConfigError: a setting that cannot be.

    Example:
        >>> compose_plain(["netemb=node2vec", "netemb.p=0.5"])["netemb"]["neighborhood"]["p"]
        0.5
    """
    try:
        with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
            composed = compose("config", full_keys(settings), return_hydra_config=True)
        with open_dict(composed):
            hydra = composed.pop("hydra")  # It cannot be resolved without a run.
        config = to_plain(composed, hydra.runtime.choices)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from None
    check_keys(config)
    return config


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
    return {**{str(key): value for key, value in plain.items()}, CHOICES: named}


def check_keys(config: Mapping[str, Any]) -> None:
    """Refuse keys that nothing reads; those of what is built are checked when it is.

    Raises:
        ConfigError: a key that is none.
    """
    check_known("", config, (*GROUPS, *NODES, *VALUES, CHOICES))
    for group in (*GROUPS, *NODES):
        if not isinstance(config.get(group), Mapping):
            raise ConfigError(f"`{group}` must be a group of keys, but is {config.get(group)!r}.")
    if not isinstance(config["store_dir"], str):
        raise ConfigError(f"`store_dir` must be a folder, but is {config['store_dir']!r}.")
    for group, keys in NODES.items():
        check_known(f"{group}.", config[group], keys)


def absolute_paths(config: Plain, folder: Path) -> Plain:
    """Make the configured paths mean the same wherever the job runs: relative ones start at `folder`."""
    out = {key: dict(value) if isinstance(value, dict) else value for key, value in config.items()}
    for dotted in PATHS:
        group, _, key = dotted.rpartition(".")
        node: Plain = out[group] if group else out
        if isinstance(node.get(key), int | float):
            node[key] = str(node[key])  # A folder called 2024 is a number to YAML.
        if isinstance(node.get(key), str):
            node[key] = str((folder / Path(node[key]).expanduser()).resolve())
    return out


register_resolvers()
