"""Settings that follow the size of the data: which, when, and that nothing else changes them."""

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from mohone.configuration.by_size import RULES, Size, has_auto, settle
from mohone.configuration.compose import compose_plain
from mohone.configuration.origins import settings_of
from mohone.configuration.recipes import CONF, family_of
from mohone.core.errors import ConfigError
from mohone.data import FolderDataset, KnowledgeGraph
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.runner import Runner
from tests.helpers.commands import TINY, mohone, results
from tests.helpers.graphs import BASE, write_folder

MODELS = sorted(path.stem for path in (CONF / "kge_model").glob("*.yaml"))
SIZES = [Size(4, 1, 3), Size(135, 46, 5216), Size(2034, 42, 32_888), Size(5_000_000, 800, 20_000_000)]
OWN = "dataset=folder"


def runner_of(folder: Path, *settings: str) -> Runner:
    config = compose_plain(
        [OWN, f"dataset.path={folder}", "netemb=none", f"store_dir={folder}/store", *settings]
    )
    plan = make_plan(config, folder)
    return Runner(plan, plan.dataset.load())


@pytest.mark.parametrize("recipe", ["default", "strong"])
@pytest.mark.parametrize("model", MODELS)
def test_every_model_on_own_data_has_settings_for_every_size(recipe: str, model: str, tmp_path: Path) -> None:
    config = compose_plain([OWN, f"recipe={recipe}", f"kge_model={model}", "netemb=none"])
    assert config["choices"]["training"] == "one_vs_all"
    assert has_auto(config)
    for size in SIZES:
        plan = make_plan(config, tmp_path).at(size)
        assert not has_auto(plan.config)
        assert set(plan.by_size) == set(RULES[family_of(model)])
        assert plan.training.fit.max_epochs >= plan.training.fit.validate_every
        assert plan.training.fit.batch_size == plan.by_size["training.fit.batch_size"]


def test_larger_data_have_fewer_epochs_larger_steps_and_a_part_of_the_candidates() -> None:
    config = compose_plain([OWN, "kge_model=rescal"])
    chosen = [settle(config, size)[1] for size in SIZES]
    epochs = [each["training.fit.max_epochs"] for each in chosen]
    assert epochs == sorted(epochs, reverse=True)
    assert epochs[0] > epochs[-1]
    batches = [each["training.fit.batch_size"] for each in chosen]
    assert batches == sorted(batches)
    assert [each["training.objective.n_candidates"] for each in chosen] == [None, None, None, 4096]


@pytest.mark.parametrize(
    ("size", "n3", "dropout", "batch_size"),
    [
        (Size(3_363, 237, 17_421), 0.1, 0.1, 256),  # A quarter of FB15k-237.
        (Size(2_034, 42, 32_888), 0.012, 0.0, 256),  # CoDEx-S.
        (Size(104, 25, 8_544), 0.0073, 0.25, 128),  # Kinships.
    ],
)
def test_products_are_held_back_where_entities_have_few_triples_or_many(
    size: Size, n3: float, dropout: float, batch_size: int
) -> None:
    _, chosen = settle(compose_plain([OWN, "kge_model=complex"]), size)
    assert chosen["training.objective.n3"] == n3
    assert chosen["training.objective.dropout"] == dropout
    assert chosen["training.fit.batch_size"] == batch_size


@pytest.mark.parametrize("dataset", ["umls", "kinships", "fb15k237", "wn18rr"])
@pytest.mark.parametrize("recipe", ["default", "strong", "paper"])
def test_data_sets_that_the_recipes_know_are_left_alone(dataset: str, recipe: str) -> None:
    config = compose_plain([f"dataset={dataset}", f"recipe={recipe}"])
    assert not has_auto(config)
    assert settle(config, SIZES[0]) == (config, {})
    assert config["choices"]["training"] == ("one_vs_all" if recipe == "strong" else "negative_sampling")


@pytest.mark.parametrize("more", [["recipe=paper"], ["training=negative_sampling"], ["training=k_vs_all"]])
def test_another_objective_is_that_of_who_asked_for_it(more: list[str]) -> None:
    config = compose_plain([OWN, *more])
    assert not has_auto(config)
    assert config["choices"]["training"] == more[0].partition("=")[2].replace("paper", "negative_sampling")


def test_what_is_typed_wins(tmp_path: Path) -> None:
    write_folder(tmp_path, BASE)
    typed = runner_of(tmp_path, "training.lr=0.7", "training.max_epochs=3").plan
    assert (typed.training.lr, typed.training.fit.max_epochs) == (0.7, 3)
    assert {"training.optimizer.lr", "training.fit.max_epochs"}.isdisjoint(typed.by_size)


def test_stages_are_kept_under_what_was_chosen(tmp_path: Path) -> None:
    write_folder(tmp_path, BASE)
    auto = runner_of(tmp_path, "kge_model=complex")
    same = runner_of(
        tmp_path, "kge_model=complex", *(f"{key}={value}" for key, value in words(auto.plan.by_size))
    )
    assert auto.keys == same.keys
    assert same.plan.by_size == {}


def words(chosen: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, "null" if value is None else value) for key, value in chosen.items()]


def test_any_data_set_may_ask_for_it(umls: KnowledgeGraph, tmp_path: Path) -> None:
    typed = ["recipe=strong", "kge_model=complex", "training.lr=auto", "netemb=none"]
    config = {**compose_plain(typed), "store_dir": str(tmp_path)}
    runner = Runner(make_plan(config, tmp_path), umls)
    assert runner.plan.by_size == {"training.optimizer.lr": runner.plan.training.lr}


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("training.patience=auto", "`training.fit.patience` must be given, for `auto` is known for training"),
        ("kge_model.init_std=auto", "`kge_model.init_std` must be given, for `auto` is known for training"),
    ],
)
def test_an_auto_without_a_rule_is_refused(typed: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=sentence):
        make_plan(compose_plain([OWN, "kge_model=complex", typed]), tmp_path)
    with pytest.raises(ConfigError, match="auto with training=negative_sampling and kge_model=transe"):
        make_plan(compose_plain(["training.lr=auto"]), tmp_path)


def test_the_command_that_shows_settings_shows_what_was_chosen_and_why(tmp_path: Path) -> None:
    write_folder(tmp_path, BASE)
    found = {each.key: each for each in settings_of([OWN, f"dataset.path={tmp_path}", "training.lr=1"])}
    batch = found["training.fit.batch_size"]
    assert batch.value == settle_on(tmp_path)["training.fit.batch_size"]
    assert batch.origin == (
        "conf/recipe/size/strong/folder-one_vs_all-translational.yaml, "
        "auto: 4 entities, 2 relations, 6 training triples"
    )
    assert found["training.optimizer.lr"].origin == "command line"
    assert found["netemb.learner.objective"].value == "auto"  # It is another's.
    assert settings_of([OWN])[0].key == "seed"  # Without data: as they stand.


def settle_on(folder: Path) -> dict[str, Any]:
    size = Size.of(FolderDataset("mine", str(folder)).load())
    return settle(compose_plain([OWN]), size)[1]


def test_a_sweep_over_folders_chooses_for_each_and_says_so(tmp_path: Path) -> None:
    write_folder(tmp_path / "D", BASE)
    chain = [f"{i} r {i + 1}" for i in range(300)]
    write_folder(
        tmp_path / "E",
        {**BASE, "train": [*BASE["train"], *chain, *(c.replace("r", "s") for c in chain)]},
    )
    typed = [a for a in TINY if "epochs" not in a and "netemb" not in a and "every" not in a]
    ran = mohone(tmp_path, "-m", OWN, "dataset.path=D,E", "netemb=none", "training.max_epochs=1", *typed)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    small, large = results(tmp_path)
    size_file = "size/strong/folder-one_vs_all-translational"
    for job, n_entities in ((small, 4), (large, 305)):
        assert job["recipe_files"] == ["model/default/one_vs_all-translational", size_file]
        size = Size(n_entities, 2, job["dataset"]["n_train"])
        assert f"settings by the size of the data ({size}), not tuned to them: " in ran.stdout
        for key, value in job["by_size"].items():
            assert OmegaConf.select(OmegaConf.create(job["config"]), key) == value
        assert "training.fit.max_epochs" not in job["by_size"]
    written = [OmegaConf.load(path) for path in sorted(tmp_path.rglob("config.yaml"))]
    assert [each.training.fit.batch_size for each in written] == [
        job["by_size"]["training.fit.batch_size"] for job in (small, large)
    ]


def test_the_name_of_own_data_is_that_of_their_folder_and_changes_no_key(tmp_path: Path) -> None:
    write_folder(tmp_path / "mine", BASE)
    usual, named = runner_of(tmp_path / "mine"), runner_of(tmp_path / "mine", "dataset.name=Ours")
    assert (usual.kg.name, named.kg.name) == ("mine", "Ours")
    assert usual.keys == named.keys == runner_of(tmp_path / "mine", "dataset.name=folder").keys
    assert usual.kg.fingerprint == named.kg.fingerprint
