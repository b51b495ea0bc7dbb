"""All choices of a group, for tests that hold for each: those of `conf`, and of a folder of the user's.

`MOHONE_CONFIG_DIR=DIR python -m pytest tests/test_choices.py tests/kge/test_models.py -k NAME` tests a choice
from outside the package: `DIR/GROUP/NAME.yaml`, as `--config-dir DIR` would find it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from mohone.configuration.recipes import CONF

Node = dict[str, Any]
OUTSIDE = os.environ.get("MOHONE_CONFIG_DIR")
FOLDERS = [CONF, *([Path(OUTSIDE).absolute()] if OUTSIDE else [])]
TOP: Node = OmegaConf.to_container(OmegaConf.load(CONF / "config.yaml"))  # type: ignore[assignment]


def files(group: str) -> list[Path]:
    """The file of each choice."""
    return [path for folder in FOLDERS for path in sorted((folder / group).glob("*.yaml"))]


def composed(path: Path) -> Node:
    """What a choice of a group says by itself, without a recipe, at the usual size; empty: nothing."""
    group = path.parent.name
    if any(map(overrides, OmegaConf.load(path).get("defaults", []))):  # type: ignore[union-attr]
        with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):  # It needs what it overrides.
            return OmegaConf.to_container(
                compose("config", [f"{group}={path.stem}", "store_dir=null"]), resolve=True
            )[group]  # type: ignore[index,call-overload,return-value]
    top = [f"++{key}={'null' if TOP[key] is None else TOP[key]}" for key in ("seed", "dim", "data_dir")]
    path = path.absolute()
    with initialize_config_dir(version_base="1.3", config_dir=str(path.parents[1])):
        config = compose(f"{group}/{path.stem}", [*top, f"hydra.searchpath=['file://{CONF}']"])
    return OmegaConf.to_container(config, resolve=True).get(group, {})  # type: ignore[union-attr]


def overrides(default: Any) -> bool:
    """Is this line of a defaults list a choice for another group?"""
    return any(
        str(key).startswith("override ") for key in ([default] if isinstance(default, str) else default)
    )
