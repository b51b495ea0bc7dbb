"""The best settings of a search as a recipe: files that the next command takes by `--config-dir`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from mohone.core.config import CHOICES
from mohone.core.files import write_text

RECIPE = Path("recipe") / "found.yaml"
_NAME = RECIPE.stem
_SAID = ("experiment", "recipe", "kge_model", "training", "dim")  # By the recipe, or a search's own.


def write_recipe(folder: Path, config: DictConfig, about: str) -> None:
    """Write the recipe `found`: which model and objective, and for these two alone their values.

    Args:
        folder: of the search.
        config: of its best job.
        about: how it was found.
    """
    model, training = (str(config[CHOICES][group]) for group in ("kge_model", "training"))
    head = f"# @package _global_\n# {about}\n"
    chosen = f"defaults:\n  - override /kge_model: {model}\n  - override /training: {training}\n"
    values = OmegaConf.to_yaml(OmegaConf.create(_values(config)))
    write_text(folder / "recipe" / "model" / _NAME / f"{training}-{model}.yaml", head + values)
    write_text(folder / RECIPE, head + chosen)


def _values(config: DictConfig) -> dict[str, Any]:
    """All of a model and its training, but the classes that they are made of, which their choices say."""
    plain = OmegaConf.to_container(OmegaConf.masked_copy(config, ["dim", "kge_model", "training"]))
    assert isinstance(plain, dict)
    model, training = plain["kge_model"], plain["training"]
    if model.get("dim") == plain["dim"]:
        del model["dim"]
    for node in (model, training, training.get("objective"), training.get("fit")):
        for key in ("_target_", "_partial_") if isinstance(node, dict) else ():
            node.pop(key, None)
    return {str(key): value for key, value in plain.items()}


def command_with(folder: Path, fixed: Iterable[str]) -> str:
    """The command of a job with the recipe, and with what else was typed for the search.

    Args:
        folder: of the search.
        fixed: the overrides that all of its jobs have.
    """
    kept = [each for each in fixed if _group_of(each) not in _SAID]
    own = ["--config-dir", os.path.relpath(folder), f"recipe={_NAME}"]
    return shlex.join(["python", "-m", "mohone.run", *own, *kept])


def _group_of(override: str) -> str:
    return override.lstrip("+~").partition("=")[0].partition(".")[0]
