"""What Hydra and OmegaConf say of a fault, in one sentence of ours."""

from __future__ import annotations

from collections.abc import Iterator

from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    ValidationError,
)

from mohone.core.config import first_line, nearest


def explain(error: BaseException) -> str:
    """One sentence: what must be, and what is."""
    for each in _chain(error):
        if isinstance(each, MissingConfigException) and each.options:
            group, _, choice = str(each.missing_cfg_file).rpartition("/")
            return f"`{group}` must be one of {nearest(choice, sorted(each.options))}, but is {choice!r}."
        if isinstance(each, OverrideParseException):
            return _unparsed(each.override)
        if isinstance(each, ConfigKeyError | ConfigAttributeError) and isinstance(
            each.parent_node, DictConfig
        ):
            key = str(each.full_key)
            known = sorted(str(name) for name in each.parent_node if not str(name).startswith("_"))
            return f"`{key}` must be one of {nearest(key.rpartition('.')[2], known)}, but is none of them."
        if isinstance(each, ValidationError):
            return f"`{each.full_key}` must have a value of its type, but: {first_line(each)}."
    return f"The configuration must be one that can be composed, but: {first_line(error)}."


def _unparsed(override: str) -> str:
    """How to type a value that Hydra's grammar does not take as it is."""
    key, _, value = override.partition("=")
    bare = value.strip("'\"")
    quote = '"' if "'" not in bare else "'"
    inner = "'" if quote == '"' else '\\"'
    return f"`{override}` must have its value in quotes: type {quote}{key}={inner}{bare}{inner}{quote}."


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
