"""Choices with values of their own: `TransE(dim=64)` says `kge_model=transe kge_model.dim=64`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Choice:
    """A choice of a group of the configuration.

    Attributes:
        group: `kge_model`, `netemb` or `infusion`.
        name: of its file.
        values: of its keys, which may leave out the middle of their path.
    """

    group: str
    name: str
    values: Mapping[str, Any]


def as_choice(group: str, given: str | Choice) -> Choice:
    """What was given for a group: a name, or a choice with values.

    Raises:
        TypeError: it is neither, or a choice of another group.
    """
    if isinstance(given, str):
        return Choice(group, given, {})
    if isinstance(given, Choice) and given.group == group:
        return given
    raise TypeError(f"It must be a name or a choice of `{group}`, like {_EXAMPLES[group]}, but is {given!r}.")


_EXAMPLES = {
    "kge_model": "'transe' or mohone.TransE(dim=64)",
    "netemb": "'shnb' or mohone.SHNB(scale=3.0)",
    "infusion": "'evidence' or mohone.Evidence(experts=['votes'])",
}


def _maker(group: str, name: str) -> Callable[..., Choice]:
    def make(**values: Any) -> Choice:
        return Choice(group, name, values)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"`{group}={name}` with these values of its keys (`conf/{group}/{name}.yaml` lists them)."
    return make


TransE = _maker("kge_model", "transe")
TransH = _maker("kge_model", "transh")
TransR = _maker("kge_model", "transr")
TransD = _maker("kge_model", "transd")
RESCAL = _maker("kge_model", "rescal")
DistMult = _maker("kge_model", "distmult")
ComplEx = _maker("kge_model", "complex")
Analogy = _maker("kge_model", "analogy")
SHNB = _maker("netemb", "shnb")
Struct = _maker("netemb", "struct")
Node2Vec = _maker("netemb", "node2vec")
DeepWalk = _maker("netemb", "deepwalk")
Retrofit = _maker("infusion", "retrofit")
Query = _maker("infusion", "query")
Evidence = _maker("infusion", "evidence")
