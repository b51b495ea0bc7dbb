"""The command that makes a job again, from the configuration that its result has."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import cache, partial

from mohone.configuration.compose import GROUPS, compose_plain
from mohone.configuration.overrides import override
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import MohoneError
from mohone.reporting.differences import BESIDE

_override = partial(override, always=False)
_MAKE = "python -m mohone.run"
_NAMED = ("kge_model", "training", "netemb", "infusion", "recipe")  # In all results, also without choices.


def command_of(result: Plain) -> tuple[str, str]:
    """The command, and a sentence on what it may lack; empty if that is nothing.

    Composed again, a command without such a sentence gives the configuration of the job.
    """
    config = result.get("config") or {}
    chosen = config.get(CHOICES, {})
    choices = {group: chosen[group] for group in (*GROUPS, "recipe") if chosen.get(group) is not None}
    if not choices:
        names = {"dataset": result["dataset"]["name"], **{key: result[key] for key in _NAMED}}
        typed = [_override(key, name) for key, name in names.items() if name is not None]
        lacks = "An earlier version wrote this result: values that were typed besides may be missing."
        return _command([*typed, f"seed={result['seed']}"]), lacks
    try:
        return _command(_typed(choices, config)), ""
    except MohoneError:
        typed = [_override(group, name) for group, name in choices.items()]
        lacks = "Its configuration cannot be composed here: it wants a `--config-dir`, or an older version."
        return _command([*typed, f"seed={result['seed']}"]), lacks


def _command(typed: list[str]) -> str:
    return " ".join([_MAKE, *map(shlex.quote, typed)])


def _typed(choices: Plain, config: Plain) -> list[str]:
    """Choices that are not the usual ones, and values that the choices alone would not give."""
    first = [_override(group, name) for group, name in choices.items() if name != _usual().get(group)]
    path = (config.get("dataset") or {}).get("path")
    first += [_override("dataset.path", path)] if path is not None else []
    return [*first, *_differences(_composed(tuple(first)), config)]


def _differences(composed: Plain, wanted: Plain, prefix: str = "") -> Iterator[str]:
    """What is to be typed so that one configuration becomes the other, in all that figures depend on."""
    for key, value in wanted.items():
        name = f"{prefix}{key}"
        if name == CHOICES or name.startswith(BESIDE):
            continue
        if key not in composed:
            yield _override(f"+{name}", value)
        elif isinstance(value, dict) and isinstance(composed[key], dict):
            yield from _differences(composed[key], value, f"{name}.")
        elif composed[key] != value:
            yield _override(name, value)
    yield from (f"~{prefix}{key}" for key in composed if key not in wanted)


@cache
def _composed(typed: tuple[str, ...]) -> Plain:
    return compose_plain(list(typed))


def _usual() -> Plain:
    choices: Plain = _composed(())[CHOICES]
    return {group: choices.get(group) for group in (*GROUPS, "recipe")}
