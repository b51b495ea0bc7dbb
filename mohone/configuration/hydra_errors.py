"""What Hydra and OmegaConf say of a fault, in one sentence of ours."""

from __future__ import annotations

import re
import shlex

import yaml
from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    ValidationError,
)

from mohone.configuration.faulty_files import told_of_file
from mohone.configuration.short_keys import PARTED, short_key
from mohone.core.config import nearest
from mohone.core.errors import chain, first_line

_PARTS = re.compile(r"""((?:'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|[^,])+)""")


def explain(error: BaseException, sweeps: bool = False) -> str:
    """One sentence: what must be, and what is.

    Args:
        error: a fault of composing.
        sweeps: may a key have several values, between commas?
    """
    for each in chain(error):
        if isinstance(each, MissingConfigException) and each.options:
            group, _, choice = str(each.missing_cfg_file).rpartition("/")
            return f"`{group}` must be one of {nearest(choice, sorted(each.options))}, but is {choice!r}."
        if isinstance(each, OverrideParseException):
            return _unparsed(each.override, sweeps)
        if isinstance(each, ConfigKeyError | ConfigAttributeError) and isinstance(
            each.parent_node, DictConfig
        ):
            key = str(each.full_key)
            known = _keys_of(each.parent_node)
            if not known and len(each.parent_node):
                return f"`{key}` must be left out, for there is no key here, but is given."
            if not known:
                return left_out(_typed_key(error) or key)
            return f"`{key}` must be one of {nearest(key.rpartition('.')[2], known)}, but is none of them."
        if isinstance(each, ValidationError) and each.full_key:
            return f"`{each.full_key}` must have a value of its type, but: {first_line(each)}."
        if isinstance(each, yaml.MarkedYAMLError) and each.problem_mark:
            place = f"{each.problem_mark.name}, line {each.problem_mark.line + 1}"
            problem = str(each.problem).removeprefix("but ")
            return f"{place}: the file must be YAML, but: {problem}."
        if found := re.match(r"Ambiguous value for argument '(.*)'", str(each)):
            typed = typed_line(found[1])
            return (
                f"`{found[1]}` must be one value, or a sweep's (`mohone.run -m`); if the comma is its own, "
                f"type {typed}."
            )
    return told_of_file(error)


def left_out(key: str) -> str:
    """What is said of a key of a group that is the choice `none`."""
    return f"`{key}` must be left out, for `{key.partition('.')[0]}` is none and has no keys, but is given."


def _typed_key(error: BaseException) -> str | None:
    """The key that Hydra could not set, as short as it may be typed; OmegaConf names the part it lacks."""
    found = (re.match(r"Could not override '([^']*)'", str(each)) for each in chain(error))
    return next((short_key(each[1]) for each in found if each), None)


def _keys_of(node: DictConfig) -> list[str]:
    """The keys of a group, and those of its parts, which may be typed without the part's name."""
    found = {str(name) for name in node}
    if node._key() in PARTED:
        parts = [node._get_node(name) for name in node]
        found |= {str(name) for part in parts if isinstance(part, DictConfig) and part for name in part}
    return sorted(name for name in found if not name.startswith("_"))


def _unparsed(override: str, sweeps: bool) -> str:
    """How to type a value that Hydra's grammar does not take as it is."""
    if "=" not in override:
        return f"`{override}` must be GROUP=CHOICE or KEY=VALUE, but has no `=`."
    if sweeps and len(_values(override)) > 1:
        return (
            f"`{override}` must have its values in quotes: type {typed_values(override)}; "
            f"if the comma is its own, type {typed_line(override)}."
        )
    return f"`{override}` must have its value in quotes: type {typed_line(override)}."


def _values(override: str) -> list[str]:
    """The values of a sweep, between commas that stand in no quotes."""
    return [each for each in _PARTS.split(override.partition("=")[2])[1::2] if each]


def typed_values(override: str) -> str:
    """The override of a sweep as it is to be typed, each value in quotes; see `typed_line`.

    Example:
        >>> print(typed_values("dataset.path=runs/lr=0.1,B"))
        "dataset.path='runs/lr=0.1','B'"
    """
    return _for_shell(f"{override.partition('=')[0]}=" + ",".join(map(_quoted, _values(override))))


def typed_line(override: str) -> str:
    """An override as it is to be typed: its value in quotes for Hydra, and all of it for the shell.

    Example:
        >>> print(typed_line("dataset.path=runs/lr=0.1"))
        "dataset.path='runs/lr=0.1'"
        >>> print(typed_line("dataset.path=/x/it's"))
        'dataset.path="/x/it'"'"'s"'
    """
    key, _, value = override.partition("=")
    return _for_shell(f"{key}={_quoted(value)}")


def _quoted(value: str) -> str:
    """A value in quotes for Hydra."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    inner = '"' if "'" in value and '"' not in value else "'"
    escaped = value.replace(inner, f"\\{inner}")
    return f"{inner}{escaped}{inner}"


def _for_shell(whole: str) -> str:
    return shlex.quote(whole) if any(sign in whole for sign in '"$`\\!') else f'"{whole}"'
