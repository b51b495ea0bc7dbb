"""Defaults stand in the code; the configuration says them again, with what they mean."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import get_object
from omegaconf import OmegaConf

from mohone.configuration.compose import GROUPS
from mohone.core.config import arguments_of
from mohone.experiment.pretrained import Pretrained
from mohone.graph.network import Network
from tests.helpers.configured import TOP, Node, composed, files, overrides

FILES = [path for group in GROUPS for path in files(group)]
each_choice = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")


def made_in(node: Any) -> Iterator[Node]:
    """The nodes of a configuration that make something of ours; what torch and Lightning have is theirs."""
    if isinstance(node, dict):
        if str(node.get("_target_")).startswith("mohone."):
            yield node
        for each in node.values():
            yield from made_in(each)


def defaults_of(target: Any) -> Node:
    """The arguments of a class or function that have a default, and it, as a configuration would say it."""
    found = {**(arguments_of(target) or {})}
    if dataclasses.is_dataclass(target):
        makers = {field.name: field.default_factory for field in dataclasses.fields(target)}
        found |= {name: make() for name, make in makers.items() if make is not dataclasses.MISSING}
    return {name: in_words(value) for name, value in found.items() if value is not inspect.Parameter.empty}


def in_words(value: Any) -> Any:
    """A default as the configuration would say it."""
    if isinstance(value, partial):
        return {"_target_": name_of(value.func), "_partial_": True, **value.keywords}
    if inspect.isfunction(value):
        return {"_target_": name_of(value), "_partial_": True}
    if dataclasses.is_dataclass(value):
        return {"_target_": name_of(type(value)), **dataclasses.asdict(value)}  # type: ignore[arg-type]
    return list(value) if isinstance(value, tuple) else value


def name_of(target: Any) -> str:
    name = f"{target.__module__}.{target.__qualname__}"
    # Torch shows its optimisers one module up from where they are written.
    return re.sub(r"^torch\.optim\.\w+\.", "torch.optim.", name)


def changes_of(path: Path) -> Node:
    """What a choice changes that is another one (its first line says why) but for that."""
    node = OmegaConf.to_container(OmegaConf.load(path))
    begun_as = [each for each in node.get("defaults", []) if not overrides(each)]
    is_another = bool(begun_as) and "_target_" not in node
    return {key: value for key, value in node.items() if key != "defaults"} if is_another else {}


@each_choice
def test_a_choice_says_every_default_of_its_classes_and_no_other(path: Path) -> None:
    """Arguments without a default are what tells choices apart (a data set's address), or are given later."""
    for node in made_in(composed(path)):
        defaults = defaults_of(get_object(node["_target_"]))
        said = {key: value for key, value in node.items() if key in defaults}
        assert said == {**defaults, **changes_of(path)}, node["_target_"]


@each_choice
def test_each_key_with_a_default_has_its_meaning_above_it(path: Path) -> None:
    targets = {node["_target_"] for node in made_in(composed(path))}
    with_default = {key for target in targets for key in defaults_of(get_object(target))} - set(
        changes_of(path)
    )
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        if (found := re.match(r"( *)(\w+):", line)) and found[2] in with_default:
            assert is_explained(lines[:number], found[1]), f"{path.name}:{number + 1}: {line}"


def is_explained(above: list[str], indent: str) -> bool:
    """Does a comment stand above a key, or above the keys of the same node that go before it?"""
    for line in reversed(above):
        if re.match(rf"{indent}\w", line) and "_target_" not in line:
            continue
        return line.startswith(f"{indent}#")
    return False


def test_the_values_of_no_group_have_the_defaults_of_what_reads_them() -> None:
    pretrained = Pretrained()
    assert TOP["pretrained"] == {"file": pretrained.path, "frozen": pretrained.frozen}
    weighting = TOP["network"]["weighting"]
    for make in (Network.from_triples, Network.from_edges):
        assert weighting == inspect.signature(make).parameters["weighting"].default
    assert TOP["callbacks"] == []
