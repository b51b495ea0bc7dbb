"""From nodes of a configuration to objects: the only place where a configured class is called."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import logging
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hydra.utils import get_object, instantiate

from mohone.core.errors import ConfigError, MohoneError, blamed, chain

Plain = dict[str, Any]
CHOICES = "choices"  # Which file of each group was chosen: labels of results, which nothing depends on.


def check_known(
    prefix: str, given: Collection[str], known: Collection[str], parts: Collection[str] = ()
) -> None:
    """Refuse a key that is none of those there are; the message has the nearest first.

    Args:
        prefix: of the keys, for the message.
        given: keys.
        known: those there are.
        parts: those of parts of the group, which may be typed for it, for the message.

    Raises:
        ConfigError: such a key.

    Example:
        >>> check_known("infusion.", ["bta"], ["alpha", "beta"])
        Traceback (most recent call last):
        mohone.core.errors.ConfigError: `infusion.bta` must be one of beta, alpha, but is none of them.
    """
    for key in given:
        if key not in known:
            if not known:
                raise ConfigError(
                    f"`{prefix}{key}` must be left out, for there is no key here, but is given."
                )
            raise ConfigError(
                f"`{prefix}{key}` must be one of {nearest(key, [*known, *parts])}, but is none of them."
            )


def nearest(name: str, known: Collection[str]) -> str:
    """All of them, those like the name first.

    Example:
        >>> nearest("lrr", ["betas", "lr"])
        'lr, betas'
    """
    near = difflib.get_close_matches(name, known, n=max(1, len(known)), cutoff=0.6)
    return ", ".join([*near, *(each for each in known if each not in near)])


def build(path: str, node: Mapping[str, Any]) -> Any:
    """Make what a node of the configuration describes, as `hydra.utils.instantiate` does.

    Args:
        path: of the node, for messages.
        node: `_target_`, and its arguments.

    Raises:
        ConfigError: an argument that the target does not have, or a value that it refuses.

    Example:
        >>> build("optimizer", {"_target_": "fractions.Fraction", "numerator": 1, "denominator": 3})
        Fraction(1, 3)
    """
    try:
        _check_arguments(path, node)
        with _silent_hydra():
            return instantiate(dict(node), _convert_="all")
    except Exception as error:  # Hydra and OmegaConf have one each for every value that cannot be.
        said = next((each for each in chain(error) if isinstance(each, MohoneError)), None)
        if said is not None:
            raise said from None
        target = node.get("_target_")
        raise ConfigError(f"`{path}` must configure {target}, but: {blamed(error)}.") from error


def find_object(path: str) -> Any:
    """What a dotted path names, as `hydra.utils.get_object` finds it, without its lines in the log."""
    with _silent_hydra():
        return get_object(path)


@contextlib.contextmanager
def _silent_hydra() -> Iterator[None]:
    """Hydra says in many lines what it then raises."""
    logger = logging.getLogger("hydra.utils")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def call(path: str, make: Any, *given: Any, **arguments: Any) -> Any:
    """Call what `build` made of a node with `_partial_`.

    Raises:
        ConfigError: an argument that is missing or that it refuses.
    """
    try:
        return make(*given, **arguments)
    except MohoneError:
        raise
    except Exception as error:  # Such as of a size that no memory has, or of a class of the user's own.
        raise ConfigError(f"`{path}` must have the arguments of its target, but: {blamed(error)}.") from error


def _check_arguments(path: str, node: Any) -> None:
    """Refuse, at any depth, arguments that targets do not have."""
    if isinstance(node, Mapping):
        if "_target_" in node:
            known = arguments_of(find_object(str(node["_target_"])))
            given = [str(key) for key in node if not str(key).startswith("_")]
            if known is not None:
                inner = [value for value in node.values() if isinstance(value, Mapping)]
                parts = {str(key): None for part in inner for key in part if not str(key).startswith("_")}
                check_known(f"{path}.", given, known, parts)
        for key, value in node.items():
            _check_arguments(f"{path}.{key}", value)
    elif isinstance(node, list):
        for i, value in enumerate(node):
            _check_arguments(f"{path}[{i}]", value)


def arguments_of(target: Any) -> dict[str, Any] | None:
    """The keyword arguments of a class or function and their defaults; None: it takes any.

    `**kwargs` of a class stand for those of the class it derives from.

    Example:
        >>> def draw(n, seed=0):
        ...     pass
        >>> arguments_of(draw)["seed"]
        0
        >>> arguments_of(dict) is None
        True
    """
    found: dict[str, Any] = {}
    classes = target.__mro__ if isinstance(target, type) else ()
    inits = [vars(each)["__init__"] for each in classes if each is not object and "__init__" in vars(each)]
    for function in inits or [target]:
        parameters = inspect.signature(function).parameters.values()
        named = {p.name: p.default for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
        found = {**named, **found}
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            found.pop("self", None)
            return found
    return None
