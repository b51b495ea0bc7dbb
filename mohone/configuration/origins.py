"""Where each value of a configuration comes from: the file that said it last, or the command line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

from hydra import compose, initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.defaults_list import create_defaults_list
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from mohone.configuration.by_size import AUTO, Size, has_auto, settle
from mohone.configuration.compose import absolute_paths, check_choices, split_off_choices, to_plain
from mohone.configuration.faulty_files import is_fault
from mohone.configuration.hydra_errors import explain
from mohone.configuration.recipes import CONF
from mohone.configuration.short_keys import full_keys
from mohone.core.config import Plain, build
from mohone.core.errors import ConfigError, MohoneError

COMMAND_LINE = "command line"
_Path = tuple[Any, ...]  # The parts of a key, which may have dots of their own.
_Said = Iterator[tuple[_Path, Any]]  # Keys, and what they are set to.


class Setting(NamedTuple):
    """A key of a configuration, its value, and who set it.

    Attributes:
        key: with dots between its parts.
        value: resolved.
        origin: a file, with the key that it refers to if the value is that of another, and the size of the
            data if it follows that; or the command line.
    """

    key: str
    value: Any
    origin: str


def settings_of(arguments: list[str], folder: Path | None = None) -> list[Setting]:
    """All keys that a job would have, in their order.

    Args:
        arguments: `GROUP=CHOICE` and `KEY=VALUE`, short keys among them.
        folder: of the user's own configuration files (`--config-dir`).

    Raises:
        ConfigError: a setting that cannot be.
    """
    check_choices(arguments)
    overrides = full_keys(arguments)
    if folder is not None:
        overrides.append(f"hydra.searchpath=['file://{folder.absolute()}']")
    try:
        with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
            composed = compose("config", overrides, return_hydra_config=True)
            origins = {key: origin for origin, said in _sources(overrides) for key, _ in said}
    except Exception as error:
        if isinstance(error, MohoneError) or not is_fault(error):
            raise
        raise ConfigError(explain(error)) from None
    plain, by_size = for_the_data(to_plain(composed, split_off_choices(composed)), Path.cwd())
    return [
        Setting(key, reduce(getitem, path, plain), _origin(origins, path, raw) + by_size.get(key, ""))
        for path, raw in _leaves(composed)
        for key in [".".join(map(str, path))]
    ]


def for_the_data(plain: Plain, cwd: Path) -> tuple[Plain, dict[str, str]]:
    """A configuration with what follows the size of the data, if it says where they are; why, by key."""
    dataset = absolute_paths(plain, cwd)["dataset"]
    if not has_auto(plain) or dataset.get("path", "") is None:
        return plain, {}
    size = Size.of(build("dataset", dataset).load())
    settled, chosen = settle(plain, size)
    return settled, dict.fromkeys(chosen, f", {AUTO}: {size}")


def _origin(origins: dict[_Path, str], path: _Path, raw: Any) -> str:
    """Who set a key: itself, or what it is a part of."""
    set_by = next((origins[path[:n]] for n in range(len(path), 0, -1) if path[:n] in origins), COMMAND_LINE)
    return set_by + (f", {raw}" if isinstance(raw, str) and "${" in raw else "")


def _sources(overrides: list[str]) -> Iterator[tuple[str, _Said]]:
    """The files that Hydra composes, in the order in which it merges them, then the command line.

    Hydra has no public way to ask for them: this is what its `ConfigLoaderImpl.load_configuration` does,
    file by file, and the only place that knows Hydra's internals.
    """
    loader = GlobalHydra.instance().config_loader()
    assert isinstance(loader, ConfigLoaderImpl)
    parsed, repository = loader._parse_overrides_and_create_caching_repo("config", overrides)
    listed = create_defaults_list(repository, "config", parsed, prepend_hydra=True, skip_missing=False)
    for default in listed.defaults:
        loaded = loader._load_single_config(default, repository)
        if loaded.provider != "hydra":
            yield _file(loaded.path, str(default.config_path)), _leaves(loaded.config)
    for override in listed.config_overrides:
        yield COMMAND_LINE, _typed(override)


def _file(source: str, path: str) -> str:
    """A file's name: from `conf` on for ours, whole for the user's."""
    folder = Path(source.removeprefix("file://"))
    return str((Path("conf") if folder == CONF else folder) / f"{path}.yaml")


def _typed(override: Override) -> _Said:
    """What an override sets."""
    value = OmegaConf.create({"value": None if override.is_delete() else override.value()})
    for path, each in _leaves(value):
        yield (*override.key_or_group.split("."), *path[1:]), each


def _leaves(node: Any, path: _Path = ()) -> _Said:
    """The keys of a configuration that have a value; a list is one, so is an empty group."""
    for key, value in node.items_ex(resolve=False):
        part = key if path else str(key)  # As plain types have it.
        if isinstance(value, DictConfig) and not value._is_none() and len(value):
            yield from _leaves(value, (*path, part))
        else:
            yield (*path, part), value
