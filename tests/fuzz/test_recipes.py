"""Files of configuration of a user's own: composed, or refused in a sentence"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mohone.configuration.compose import absolute_paths, compose_plain
from mohone.configuration.origins import settings_of
from mohone.experiment.plan import make_plan
from tests.helpers.fuzz import ODD, Refused, changed, mutated, outcome, tries

HEADER = b"# @package _global_\n"
RECIPE = (
    HEADER
    + b"""defaults:
  - override /training: one_vs_all
  - override /kge_model: complex
dim: 16
training:
  objective: {n3: 0.1}
  optimizer:
    lr: 0.1
callbacks: []
hydra:
  run: {dir: 'runs/${now:%Y}'}
"""
)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """The file of a recipe in a user's folder."""
    (tmp_path / "recipe").mkdir()
    return tmp_path / "recipe/mine.yaml"


def other_values() -> st.SearchStrategy[bytes]:
    odd = [value for value in ODD if value != "\ud800"]
    return changed(yaml.safe_load(RECIPE), odd).map(lambda value: HEADER + yaml.safe_dump(value).encode())


@tries(10, cost=10)
@given(draw=st.data())
def test_recipes(recipe: Path, draw: st.DataObject) -> None:
    recipe.write_bytes(draw.draw(mutated(RECIPE) | other_values()))
    search = f"hydra.searchpath=['file://{recipe.parents[1]}']"
    config = outcome(lambda: compose_plain(["recipe=mine", search]))
    told = outcome(lambda: settings_of(["recipe=mine"], recipe.parents[1]))
    if isinstance(config, Refused):
        return
    assert not isinstance(told, Refused)
    outcome(lambda: make_plan(absolute_paths(config, Path("/tmp")), Path("/tmp")))
