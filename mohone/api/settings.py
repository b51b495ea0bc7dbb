"""From values of Python to the configuration of a job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mohone.api.choices import Choice
from mohone.configuration.compose import GROUPS, NODES, VALUES, absolute_paths, compose_plain
from mohone.configuration.overrides import override, written
from mohone.core.config import Plain, nearest
from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph

_GROUPS = (*GROUPS, "recipe", "experiment")
_EVERYWHERE = ("seed", "store_dir", "sparse", "allocator", "progress", "trainer", "logger", "recipe")
_OWN = {  # What each verb may set, besides what holds everywhere.
    "kge_model": ("kge_model", "training", "pretrained", "given", "evaluation", "callbacks"),
    "netemb": ("netemb", "network"),
    "infusion": ("infusion",),
}


def configure(
    kg: KnowledgeGraph, choice: Choice, settings: Mapping[str, Any], seed: int | None = None
) -> Plain:
    """The configuration of a job on a data set with a choice of one group; the rest is the usual.

    Args:
        kg: the data set.
        choice: of the group that settings without a group belong to.
        settings: by full or short key, or by a key of the group's own, like `scale` of `netemb`.
        seed: where settings have none.

    Returns:
        plain, with absolute paths.

    Raises:
        ConfigError: a setting that cannot be, or is another verb's.
    """
    if not isinstance(kg, KnowledgeGraph):
        raise TypeError(f"The data set must be what `mohone.load` gives, but is a {type(kg).__name__}.")
    others = [f"{group}=none" for group in ("netemb", "infusion") if group != choice.group]
    first = [*(kg.origin or ("dataset=folder",)), *others, f"{choice.group}={written(choice.name)}"]
    named = {
        key if key == "dim" and choice.group != "infusion" else f"{choice.group}.{key}": value
        for key, value in choice.values.items()
    }
    given, own = _sorted({**named, **settings}, choice.group)
    if seed is not None:
        first.append(override("seed", seed))
    first += [override(key, value) for key, value in given.items()]
    if own:
        config = compose_plain(first)
        first += [override(_full(key, choice.group, config), value) for key, value in own.items()]
    return absolute_paths(compose_plain(first), Path.cwd())


def _sorted(settings: Mapping[str, Any], group: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings with a place of their own, and those that are keys of this group or of a part of it."""
    given: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in settings.items():
        top = key.lstrip("+~").partition(".")[0]
        if top in (*_everywhere(group), *_OWN[group]):
            given[key] = value
        elif key == "seed":  # Of an infusion that draws.
            own[key] = value
        elif top in _EVERYWHERE:
            raise ConfigError(
                f"`{key}` must be given to `fit`, whose values hold for `infuse`, too, but is given to that."
            )
        elif top in (*_GROUPS, *NODES, *VALUES):
            raise ConfigError(
                f"`{key}` must be given where it belongs, but {_VERBS[group]} has no use for it."
            )
        else:
            own[key] = value
    return given, own


_VERBS = {"kge_model": "`fit`", "netemb": "`embed_network`", "infusion": "`infuse`"}


def _everywhere(group: str) -> tuple[str, ...]:
    """Settings of a whole job that the verb of a group takes; an infusion has those of its baseline."""
    return () if group == "infusion" else ("dim", *_EVERYWHERE)


def _full(key: str, group: str, config: Plain) -> str:
    """The full key of one that stands in a group that the verb may set, or in a part of one."""
    known: dict[str, str] = {}
    for own in _OWN[group]:
        node = config.get(own)
        for name, value in node.items() if isinstance(node, dict) else ():
            known.setdefault(name, f"{own}.{name}")
            for inner in value if isinstance(value, dict) else ():
                known.setdefault(inner, f"{own}.{name}.{inner}")
    if key not in known:
        both = dict.fromkeys([*known, *_everywhere(group)])
        names = [name for name in both if not name.startswith("_")]
        raise ConfigError(f"`{key}` must be one of {nearest(key, names)}, but is none of them.")
    return known[key]
