"""Which file of a recipe has the settings for a model: its own, or that of its family.

The defaults list of `conf/config.yaml` asks by the resolver `file_for`, before anything is composed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

_PACKAGE = Path(__file__).parents[1]
CONF = _PACKAGE / "conf" if (_PACKAGE / "conf").is_dir() else _PACKAGE.parent / "conf"
FAMILIES = {
    "translational": (
        *("transe", "transh", "transd", "transr"),
        *("pykeen_transh", "pykeen_transd", "pykeen_transr"),
    ),
    "bilinear": ("distmult", "complex", "analogy"),
    "small": ("umls", "kinships"),
    "benchmark": ("fb15k237", "wn18rr"),
}
_ELSE = {"default": "strong", "large": "default"}  # Where a recipe has none, that of another serves...
_SHARED = ("model", "size")  # ... for these kinds.


def family_of(choice: str) -> str:
    """The family of a model or data set; itself if it is in none.

    Example:
        >>> family_of("transh"), family_of("rescal")
        ('translational', 'rescal')
    """
    return next((family for family, members in FAMILIES.items() if choice in members), choice)


def file_for(kind: str, recipe: str, *choices: str) -> str:
    """The file of a recipe for these choices, the last of which may be in a family.

    Args:
        kind: `model`, `dataset`, `pair` or `size`, a folder of `conf/recipe`.
        recipe: its name.
        *choices: of the groups that the file is named by.

    Returns:
        its name in the folder; that of the choices themselves where there is no file, so that one in a folder
        of the user's (`--config-dir`) is found.

    Example:
        >>> file_for("model", "strong", "one_vs_all", "transh")
        'strong/one_vs_all-translational'
        >>> file_for("pair", "strong", "wn18rr", "transe")
        'strong/wn18rr-transe'
    """
    own = "-".join(choices)
    names = [own, "-".join([*choices[:-1], family_of(choices[-1])])]
    recipes = [recipe, *([_ELSE[recipe]] if kind in _SHARED and recipe in _ELSE else [])]
    places = [f"{each}/{name}" for each in recipes for name in names]
    return next((x for x in places if (CONF / "recipe" / kind / f"{x}.yaml").is_file()), f"{recipe}/{own}")


def applied(choices: Mapping[str, Any], folders: Sequence[Path] = (CONF,)) -> list[str]:
    """The files of a recipe that hold for a job, as the defaults list of `conf/config.yaml` asks.

    Args:
        choices: of all groups.
        folders: of configurations: the package's, and the user's.

    Example:
        >>> chosen = {"dataset": "folder", "training": "one_vs_all", "kge_model": "transh"}
        >>> applied({"recipe": "strong", **chosen})
        ['model/strong/one_vs_all-translational', 'size/strong/folder-one_vs_all-translational']
    """
    recipe, dataset, training, model = (
        str(choices.get(group)) for group in ("recipe", "dataset", "training", "kge_model")
    )
    asked = {
        "model": (training, model),
        "dataset": (dataset,),
        "pair": (dataset, model),
        "size": (dataset, training, model),
    }
    files = [f"{kind}/{file_for(kind, recipe, *names)}" for kind, names in asked.items()]
    return [file for file in files if any((each / f"recipe/{file}.yaml").is_file() for each in folders)]


def in_words(recipe: str, files: Sequence[str]) -> str:
    """Which files of a recipe hold for a job, and whether any knows its data set.

    Example:
        >>> print(in_words("strong", ["model/strong/one_vs_all-translational"]))
        recipe strong (model/strong/one_vs_all-translational): nothing of it was tuned to this data set
    """
    found = f" ({', '.join(files)})" if files else ""
    if not (CONF / "recipe" / f"{recipe}.yaml").is_file():  # Of the user's own nobody knows.
        return f"recipe {recipe}{found}"
    tuned = any(file.startswith(("dataset/", "pair/")) for file in files)
    return f"recipe {recipe}{found}: {'' if tuned else 'nothing of it was '}tuned to this data set"


def joined(values: Sequence[object]) -> str:
    """A list as a part of a folder's name.

    Example:
        >>> joined(["votes", "heat"])
        'votes+heat'
    """
    return "+".join(map(str, values))


def register_resolvers() -> None:
    """Tell OmegaConf of `file_for`, and of `joined` for the folders of sweeps."""
    OmegaConf.register_new_resolver("file_for", file_for, replace=True)
    OmegaConf.register_new_resolver("joined", joined, replace=True)
