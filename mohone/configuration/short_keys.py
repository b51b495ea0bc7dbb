"""What may be typed for a key: a path without its middle, a key of an earlier version, a name for a class.

`training.lr=0.1` is `training.optimizer.lr=0.1`, `netemb.scale=3` is `netemb.neighborhood.scale=3`: a key
that a group does not have itself is that of a part of the group. So people need not know the parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from omegaconf import DictConfig, OmegaConf

from mohone.configuration.recipes import CONF
from mohone.core.errors import require_choice

_RENAMED = {
    "graph.weighting": "network.weighting",
    "training.hold_epochs": "training.fit.warmup_epochs",
    "training.relation_run": "training.objective.relation_block",
}
_LINEAR = "{_target_:mohone.training.schedules.linear_decay,_partial_:true}"
_NAMED = {  # The key that is meant, and what stands for each name.
    "training.optimizer": (
        "training.optimizer._target_",
        {"adam": "torch.optim.Adam", "adagrad": "torch.optim.Adagrad", "sgd": "torch.optim.SGD"},
    ),
    "training.schedule": ("training.scheduler", {"constant": "null", "linear": _LINEAR}),
}
PARTED = ("training", "netemb")  # Groups that are made of parts.
_OVERRIDE = re.compile(r"(?P<sign>\+{0,2}|~)(?P<key>[A-Za-z_][\w.]*)(?P<rest>=.*)?", re.DOTALL)


def full_keys(arguments: Sequence[str]) -> list[str]:
    """The arguments of a command line with the keys that the configuration has; all else is as it was.

    Raises:
        ConfigError: a name that stands for nothing.

    Example:
        >>> full_keys(["-m", "training.lr=0.1,0.2", "kge_model=transe"])
        ['-m', 'training.optimizer.lr=0.1,0.2', 'kge_model=transe']
        >>> full_keys(["training.optimizer=sgd"])
        ['training.optimizer._target_=torch.optim.SGD']
    """
    return [_full(argument) for argument in arguments]


def full_key(key: str) -> str:
    """The key of the configuration that is meant; itself if it is none that is short.

    Example:
        >>> full_key("training.lr"), full_key("graph.weighting"), full_key("seed")
        ('training.optimizer.lr', 'network.weighting', 'seed')
    """
    return _RENAMED.get(key) or _short_keys().get(key, key)


def short_key(key: str) -> str:
    """The same key as it may be typed; itself if there is no shorter one.

    Example:
        >>> short_key("netemb.learner.dim"), short_key("seed")
        ('netemb.dim', 'seed')
    """
    return next((short for short, full in _short_keys().items() if full == key), key)


def _full(argument: str) -> str:
    found = _OVERRIDE.fullmatch(argument)
    if found is None:
        return argument
    sign, key, rest = found["sign"], found["key"], found["rest"] or ""
    if key in _NAMED and rest:
        meant, names = _NAMED[key]
        values = rest[1:].split(",")
        if not rest[1:].startswith(("{", "$")):
            for value in values:
                require_choice(key, value, tuple(names))
            return f"{sign}{meant}={','.join(names[value] for value in values)}"
    return f"{sign}{full_key(key)}{rest}"


@cache
def _short_keys() -> dict[str, str]:
    """The full key of each short one, of all choices of the groups that have parts."""
    found: dict[str, str] = {}
    for group in PARTED:
        for file in sorted((CONF / group).glob("*.yaml")):
            node = OmegaConf.load(file)
            assert isinstance(node, DictConfig)
            for part, each in node.items_ex(resolve=False):
                keys = [str(key) for key in each] if isinstance(each, DictConfig) else []
                for key in keys:
                    if not key.startswith("_") and key not in node:
                        found.setdefault(f"{group}.{key}", f"{group}.{part!s}.{key}")
    return found
