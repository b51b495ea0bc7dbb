"""A recipe's files are found by their names, and a misspelt name would be passed over in silence."""

import re
from pathlib import Path

import pytest

from mohone.core.config import compose_plain

CONF = Path(__file__).parents[2] / "conf"
NAMES = {
    "model": "{training}-{kge_model}",
    "dataset": "{dataset}",
    "pair": "{dataset}-{kge_model}",
}


def choices(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


@pytest.mark.parametrize("kind", NAMES)
def test_each_file_of_a_recipe_is_named_after_choices_there_are(kind: str) -> None:
    groups = {group: "|".join(choices(group)) for group in ("training", "kge_model", "dataset")}
    pattern = NAMES[kind].format(**{group: f"({names})" for group, names in groups.items()})
    files = list((CONF / "recipe" / kind).glob("*/*.yaml"))
    assert files
    assert {path.parent.name for path in files} <= set(choices("recipe"))
    assert [path.name for path in files if not re.fullmatch(pattern, path.stem)] == []


@pytest.mark.parametrize("recipe", ["paper", "strong"])
@pytest.mark.parametrize("model", choices("kge_model"))
def test_recipes_have_values_of_their_own_for_each_model_of_the_table(recipe: str, model: str) -> None:
    names = (f"recipe={recipe}", f"kge_model={model}")
    fb, wn, umls = (compose_plain([*names, f"dataset={d}"]) for d in ("fb15k237", "wn18rr", "umls"))
    assert fb["training"] != umls["training"] != wn["training"]
    assert fb["training"]["_target_"] == wn["training"]["_target_"] == umls["training"]["_target_"]
    assert (CONF / f"recipe/model/{recipe}/{umls['training']['name']}-{model}.yaml").is_file()
    assert fb["recipe"] == recipe
