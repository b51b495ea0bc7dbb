"""A recipe's files are found by their names, and a misspelt name would be passed over in silence."""

import itertools
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from mohone.configuration.compose import compose_plain
from mohone.configuration.origins import settings_of
from mohone.configuration.recipes import CONF, applied, family_of, file_for
from mohone.sweeps.foresight import choices_of
from tests.helpers.commands import mohone, results
from tests.helpers.graphs import BASE, write_folder


def choices(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def test_each_file_of_a_recipe_is_named_after_choices_and_families_there_are() -> None:
    models = {*choices("kge_model"), *map(family_of, choices("kge_model"))}
    datasets = {*choices("dataset"), *map(family_of, choices("dataset"))}
    named = {
        "model": {f"{training}-{model}" for training in choices("training") for model in models},
        "dataset": datasets,
        "pair": {f"{dataset}-{model}" for dataset in datasets for model in models},
        "size": {f"folder-{training}-{model}" for training in choices("training") for model in models},
    }
    for kind, names in named.items():
        files = list((CONF / "recipe" / kind).glob("*/*.yaml"))
        assert files
        assert {path.parent.name for path in files} <= set(choices("recipe"))
        assert {path.stem for path in files} <= names


def test_every_file_of_a_recipe_is_used() -> None:
    used = {
        file_for(kind, recipe, *key)
        for recipe in choices("recipe")
        for kind, groups in (
            ("model", ("training", "kge_model")),
            ("dataset", ("dataset",)),
            ("pair", ("dataset", "kge_model")),
            ("size", ("dataset", "training", "kge_model")),
        )
        for key in itertools.product(*map(choices, groups))
    }
    root = CONF / "recipe"
    files = {str(path.relative_to(root / path.parts[-3]).with_suffix("")) for path in root.glob("*/*/*.yaml")}
    assert files <= used


def test_a_file_of_a_models_own_goes_before_its_familys() -> None:
    assert file_for("pair", "strong", "wn18rr", "transe") == "strong/wn18rr-transe"
    assert file_for("pair", "strong", "wn18rr", "transd") == "strong/wn18rr-translational"
    assert file_for("model", "default", "one_vs_all", "complex") == "strong/one_vs_all-bilinear"
    assert file_for("model", "mine", "one_vs_all", "complex") == "mine/one_vs_all-complex"


@pytest.mark.parametrize("recipe", ["paper", "strong"])
@pytest.mark.parametrize("model", choices("kge_model"))
def test_recipes_have_values_of_their_own_for_each_model_of_the_table(recipe: str, model: str) -> None:
    names = (f"recipe={recipe}", f"kge_model={model}")
    fb, wn, umls = (compose_plain([*names, f"dataset={d}"]) for d in ("fb15k237", "wn18rr", "umls"))
    assert fb["training"] != umls["training"] != wn["training"]
    objectives = {each["training"]["objective"]["_target_"] for each in (fb, wn, umls)}
    assert len(objectives) == 1
    assert fb["choices"]["recipe"] == recipe


def test_a_sweep_over_epochs_infuses_checkpoints_of_one_training() -> None:
    """With a constant rate a shorter training is the start of a longer: see `training/test_resume.py`."""
    assert compose_plain(["experiment=strength"])["training"]["scheduler"] is None


def test_the_ablation_leaves_each_expert_out_and_takes_each_alone() -> None:
    usual = compose_plain(["infusion=evidence"])["infusion"]["experts"]
    with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        sweep = compose("config", ["experiment=ablation"], return_hydra_config=True)
    (each,) = [values for values in choices_of(sweep) if values[0].startswith("infusion.experts=")]
    tried = [compose_plain(["infusion=evidence", value])["infusion"]["experts"] for value in each]
    left_out = [[name for name in usual if name != one] for one in usual]
    assert tried == [usual, *left_out, *([name] for name in usual)]
    subdir = OmegaConf.to_container(sweep.hydra.sweep, resolve=False)["subdir"]  # type: ignore[index,call-overload]
    folder = OmegaConf.create({"infusion": {"experts": tried[1]}, "folder": subdir.rpartition("/")[2]}).folder
    assert folder == "answers+heat+paths+contexts+frequency"


def defaults_of(path: Path) -> list[str]:
    return [str(each) for each in OmegaConf.load(path).get("defaults", [])]  # type: ignore[union-attr]


@pytest.mark.parametrize("dataset", ["folder", "umls", "fb15k237", "wn18rr"])
@pytest.mark.parametrize("recipe", ["default", "strong", "paper"])
def test_the_files_that_are_named_for_a_recipe_are_those_that_hydra_read(dataset: str, recipe: str) -> None:
    for model in ("transr", "complex", "rescal"):
        settings = [f"dataset={dataset}", f"recipe={recipe}", f"kge_model={model}"]
        named = [CONF / "recipe" / f"{each}.yaml" for each in applied(compose_plain(settings)["choices"])]
        of_them = [path.parents[1] / f"{each}.yaml" for path in named for each in defaults_of(path)]
        set_by = {CONF.parent / each.origin.partition(", ")[0] for each in settings_of(settings)}
        assert {path for path in set_by if path.parents[2] == CONF / "recipe"} <= {*named, *of_them}


def test_a_job_says_which_files_of_its_recipe_hold_and_that_none_knows_its_data(tmp_path: Path) -> None:
    write_folder(tmp_path / "D", BASE)
    tiny = ["netemb=none", "dim=4", "training.max_epochs=1", "hydra.run.dir=here"]
    ran = mohone(tmp_path, "dataset=folder", "dataset.path=D", "recipe=strong", *tiny)
    files = ["model/strong/one_vs_all-translational", "size/strong/folder-one_vs_all-translational"]
    assert f"recipe strong ({', '.join(files)}): nothing of it was tuned to this data set\n" in ran.stdout
    assert "transe (one_vs_all, strong), none, seed 0: link prediction" in ran.stdout
    (result,) = results(tmp_path)
    assert (result["recipe"], result["recipe_files"]) == ("strong", files)


def test_a_recipe_file_of_ones_own_is_named(tmp_path: Path) -> None:
    own = tmp_path / "own/recipe/pair/default/umls-transe.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("# @package _global_\ntraining:\n  optimizer:\n    lr: 0.02\n", encoding="utf-8")
    tiny = ["netemb=none", "dim=4", "training.max_epochs=1", "hydra.run.dir=here"]
    ran = mohone(tmp_path, "--config-dir", "own", *tiny)
    (result,) = results(tmp_path)
    assert "pair/default/umls-transe" in result["recipe_files"], ran.stdout
    assert result["config"]["training"]["optimizer"]["lr"] == 0.02
