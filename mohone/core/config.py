"""From a composed configuration to objects: the only place where a configured class is called."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException, InstantiationException
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mohone.core.errors import ConfigError, MohoneError

Plain = dict[str, Any]
LAST_SEED = 2**32 - 1  # Lightning's.
T = TypeVar("T")
GROUPS = ("dataset", "kge_model", "training", "netemb", "infusion", "trainer", "logger")
KEYS = (
    *GROUPS,
    "graph",
    "pretrained",
    "recipe",
    "seed",
    "dim",
    "data_dir",
    "store_dir",
    "sparse",
    "allocator",
    "progress",
)
_PACKAGE = Path(__file__).parents[1]
CONF = _PACKAGE / "conf" if (_PACKAGE / "conf").is_dir() else _PACKAGE.parent / "conf"
PATHS = ("dataset.path", "dataset.data_dir", "pretrained.file", "data_dir", "store_dir")


def compose_plain(settings: list[str]) -> Plain:
    """The configuration of the package with these settings (`GROUP=CHOICE`, `KEY=VALUE`), for other commands.

    Raises:
        ConfigError: a setting that cannot be.
    """
    try:
        with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
            config = to_plain(compose("config", settings))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_first_line(error)) from None
    check_keys(config)
    return config


def to_plain(config: DictConfig) -> Plain:
    """Resolve all interpolations and return plain types.

    Raises:
        ConfigError: an interpolation that cannot be resolved, a value that is missing.
    """
    try:
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"The configuration must resolve, but: {_first_line(error)}.") from None
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def check_keys(config: Mapping[str, Any]) -> None:
    """Refuse keys that nothing reads; those of groups with a `_target_` are checked when it is built.

    Raises:
        ConfigError: a key that is none.
    """
    _check_keys("", config, KEYS)
    for group in (*GROUPS, "graph", "pretrained"):
        if not isinstance(config.get(group), Mapping):
            raise ConfigError(f"`{group}` must be a group of keys, but is {config.get(group)!r}.")
    if not isinstance(config["store_dir"], str):
        raise ConfigError(f"`store_dir` must be a folder, but is {config['store_dir']!r}.")
    _check_keys("graph.", config["graph"], ("weighting",))
    _check_keys("pretrained.", config["pretrained"], ("file", "frozen"))
    for group in ("netemb", "infusion"):
        if "_target_" not in config[group]:
            _check_keys(f"{group}.", config[group], ("name",))


def _check_keys(prefix: str, node: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in node:
        if key not in known:
            raise ConfigError(f"`{prefix}{key}` must be one of {', '.join(known)}, but is none of them.")


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


def build(group: str, node: Mapping[str, Any], *, without: tuple[str, ...] = (), **extra: Any) -> Any:
    """Make the object that a group configures by its `_target_`, whose arguments are the group's other keys.

    Args:
        group: its name, for messages.
        node: the group.
        without: keys that are not the object's.
        extra: further arguments.

    Raises:
        ConfigError: a key that the class does not have, or a value it refuses.
    """
    target = node["_target_"]
    try:
        known = _parameters(get_class(target))
        labels = {"_target_", "name", *without} - known
        arguments = {k: v for k, v in node.items() if k not in labels}
        unknown = sorted(set(arguments) - known)
        if unknown:
            keys = ", ".join(sorted((known - set(extra)) | set(without) | {"name"}))
            raise ConfigError(f"`{group}.{unknown[0]}` must be one of {keys}, but is none of them.")
        return instantiate({"_target_": target}, **arguments, **extra, _convert_="all")
    except InstantiationException as error:
        if isinstance(error.__cause__, MohoneError):
            raise error.__cause__ from None
        raise ConfigError(f"`{group}` must configure {target}, but: {_first_line(error)}.") from error


def settings_of(cls: type[T], group: str, node: Mapping[str, Any]) -> T:
    """Make a dataclass of those keys of a group that are its fields.

    Raises:
        ConfigError: a key that is missing, or a value the class refuses.
    """
    for field in dataclasses.fields(cast("Any", cls)):
        if field.name not in node and field.default is dataclasses.MISSING:
            raise ConfigError(f"`{group}.{field.name}` must be given, but is missing.")
    return cls(**{f.name: node[f.name] for f in dataclasses.fields(cast("Any", cls)) if f.name in node})


def keys_of(cls: type) -> tuple[str, ...]:
    """The keys that `settings_of` takes for this dataclass."""
    return tuple(field.name for field in dataclasses.fields(cls))


def _parameters(cls: type) -> set[str]:
    """The keyword arguments of a class; `**kwargs` stand for those of the class it derives from."""
    names: set[str] = set()
    for each in cls.__mro__:
        if "__init__" not in vars(each):
            continue
        parameters = inspect.signature(vars(each)["__init__"]).parameters.values()
        names |= {p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return names - {"self"}


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
