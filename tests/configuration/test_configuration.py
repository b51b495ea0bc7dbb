"""What a configuration cannot be, before any work."""

from pathlib import Path

import pytest

from mohone.configuration.compose import absolute_paths, check_paths, compose_plain
from mohone.configuration.origins import settings_of
from mohone.core.config import Plain
from mohone.core.errors import ConfigError, MohoneError
from mohone.experiment.plan import make_plan
from tests.helpers.commands import mohone


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("network=null", "`network` must be a group of keys, but is None"),
        ("pretrained=3", "`pretrained` must be a group of keys, but is 3"),
        ("store_dir=null", "`store_dir` must be a folder, but is None"),
        ("+network.weights=1", "`network.weights` must be one of weighting, but is none of them"),
    ],
)
def test_what_cannot_be_is_refused(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        compose_plain([setting])


@pytest.mark.parametrize(
    ("given", "key", "group"),
    [
        ("infusion=none infusion.beta=1", "infusion.beta", "infusion"),
        ("netemb=none netemb.dim=3", "netemb.dim", "netemb"),
        ("netemb=none netemb.learner.dim=3", "netemb.dim", "netemb"),
        ("netemb=none netemb.scale=3", "netemb.scale", "netemb"),
        ("netemb=none netemb.what=3", "netemb.what", "netemb"),
        ("netemb=none +netemb.dim=3", "netemb.dim", "netemb"),
        ("infusion=none +infusion.beta=1", "infusion.beta", "infusion"),
    ],
)
def test_a_key_of_a_group_that_is_none_is_refused_as_such(
    given: str, key: str, group: str, tmp_path: Path
) -> None:
    sentence = f"^`{key}` must be left out, for `{group}` is none and has no keys, but is given.$"
    with pytest.raises(ConfigError, match=sentence):
        make_plan(compose_plain(given.split()), tmp_path)


@pytest.mark.parametrize("given", ["logger=none logger.x=1", "logger=csv logger.x=1"])
def test_a_key_of_a_choice_that_has_no_keys_is_refused_as_such(given: str) -> None:
    with pytest.raises(ConfigError, match=r"^`logger.x` must be left out, for there is no key here"):
        compose_plain(given.split())


def test_a_users_own_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe/found.yaml").write_text("# @package _global_\ndim: [1\n")
    with pytest.raises(
        ConfigError, match=r"recipe/found\.yaml, line 3: the file must be YAML, but: expected "
    ):
        settings_of(["recipe=found"], tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"# caf\xe9\n",
            "{0}: the file must be text in UTF-8, but: 'utf-8' codec can't decode byte 0xe9 in ",
        ),
        ("dim: 8\n".encode("utf-16"), "{0}: the file must be text in UTF-8, but: "),
        (
            b"dim: 8\x00\n",
            "{0}: the file must be one that can be composed, but: unacceptable character #x0000",
        ),
        (b"3\n", "{0}: the file must be one that can be composed, but: Invalid loaded object type: int."),
        (b"dim: " + b"9" * 5000, "{0}: the file must be one that can be composed, but: Exceeds the limit "),
        (
            b"dim: " + b"[" * 1000,
            "{0}: the file must be one that can be composed, but: it is nested too deeply",
        ),
        (b"callbacks: &a [*a]\n", "{0}: the file must be one that can be composed, but: it is nested too "),
        (b"null: 8\n", "{0}: the file must be one that can be composed, but: Incompatible key type"),
        (b"dim: ${\n", "{0}: the file must be one that can be composed, but: no viable alternative at input"),
        (
            b"# @package a b c\n",
            "{0}: the file must be one that can be composed, but: Too many components in",
        ),
        (b"dim: 8\n---\ndim: 9\n", "{0}, line 3: the file must be YAML, but: found another document."),
        (b"defaults: 3\n", "but: Invalid defaults list in 'recipe/mine', defaults must be a list (got int)."),
        (
            b"defaults: [3]\n",
            "recipe/mine: the file must be one that can be composed, but: Unsupported type in ",
        ),
        (b"defaults: [x: y]\n", "but: In 'recipe/mine': Could not find 'recipe/x/y'."),
        (b"kge_model: [1]\n", "raised while composing config: Cannot merge DictConfig with ListConfig."),
    ],
)
def test_a_users_own_file_that_cannot_be_composed_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "recipe/mine.yaml"
    path.parent.mkdir()
    path.write_bytes(content if content.startswith((b"#", b"\xff")) else b"# @package _global_\n" + content)
    for refuse in (
        lambda: settings_of(["recipe=mine"], tmp_path),
        lambda: compose_plain(["recipe=mine", f"hydra.searchpath=['file://{tmp_path}']"]),
    ):
        with pytest.raises(ConfigError) as refused:
            refuse()
        assert said.format(path) in str(refused.value)
        assert len(str(refused.value).splitlines()) == 1
    ran = mohone(tmp_path, "--config-dir", str(tmp_path), "recipe=mine")
    assert (ran.returncode, ran.stderr) == (1, f"{refused.value}\n")


@pytest.mark.parametrize("group", ["recipe", "experiment"])
@pytest.mark.parametrize("content", ["dim: 8\n", "", "[1]\n"])
def test_a_file_that_sets_others_keys_must_say_so(tmp_path: Path, group: str, content: str) -> None:
    (tmp_path / group).mkdir()
    (tmp_path / group / "mine.yaml").write_text(content)
    with pytest.raises(ConfigError) as refused:
        compose_plain([f"{group}=mine", f"hydra.searchpath=['file://{tmp_path}']"])
    assert str(refused.value) == (
        f"The file of `{group}` must begin with the line `# @package _global_`, but does not."
    )


def test_keys_with_dots_of_their_own_are_told(tmp_path: Path) -> None:
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe/mine.yaml").write_text("# @package _global_\ntraining: {a.b: 1, 3: !!binary aGk=}\n")
    found = {each.key: (each.value, each.origin) for each in settings_of(["recipe=mine"], tmp_path)}
    file = f"{tmp_path}/recipe/mine.yaml"
    assert (found["training.a.b"], found["training.3"]) == ((1, file), (b"hi", file))
    assert (
        mohone(tmp_path, "--config-dir", str(tmp_path), "recipe=mine", module="mohone.settings").returncode
        == 0
    )


@pytest.mark.parametrize(
    ("group", "key", "value", "sentence"),
    [
        ("kge_model", "_partial_", None, "`kge_model` must configure mohone.kge.transe.TransE, but: "),
        ("trainer", "_target_", None, "`trainer._target_` must be a Trainer, but is None."),
        ("dataset", "_target_", "collections.Counter", "`dataset` must make what has `load()`, but makes a "),
        ("logger", "_target_", "collections.Counter", "`logger` must make a JobLogger, but makes a Counter."),
        ("choices", "netemb", 3, "`choices` must be names of choices by group, but is "),
        ("network", "weighting", None, "`network.weighting` must be one of "),
        ("pretrained", "file", "x" * 5000, "`pretrained.file` must be a file, but x"),
        ("kge_model", "dim", 10**30, "`kge_model` must have the arguments of its target, but: "),
        ("training", "objective", None, "`training.objective` must make a Objective, but makes a NoneType."),
        ("training", "fit", {}, "`training.fit` must make a Fit, but makes a dict."),
        (
            "training",
            "scheduler",
            3,
            "`training.scheduler` must be null or a `_partial_` call, not 3.",
        ),
        (
            "training",
            "optimizer",
            {"_target_": "torch.optim.Adam", "_partial_": True, "lr": 0.1, "betas": [2, 0.5]},
            "`training.optimizer` must have the arguments of its target, but: Invalid beta",
        ),
        (
            "training",
            "optimizer",
            {"_target_": "builtins.dict", "_partial_": True, "lr": 0.1},
            "`training.optimizer` must ",
        ),
        ("netemb", "learner", None, "`netemb.learner` must make a Learner, but makes a NoneType."),
        ("netemb", "neighborhood", 3, "`netemb.neighborhood` must make a Neighborhood, but makes a int."),
        (
            "trainer",
            "gradient_clip_val",
            float("inf"),
            "`trainer.gradient_clip_val` must be a finite number, but",
        ),
        (
            "dataset",
            "name",
            "\ud800",
            "`dataset.name` must be of signs that a file can hold, but is '\\ud800'.",
        ),
        (
            "dataset",
            "name",
            b"umls",
            "`dataset.name` must be a text, a number, true, false or null, but is b'umls'",
        ),
        ("dataset", 3, "umls", "`dataset` must have names as keys, but has 3."),
    ],
)
def test_values_that_nothing_can_be_made_of(
    tmp_path: Path, group: str, key: str, value: object, sentence: str
) -> None:
    config = compose_plain(["kge_model=transe", "dataset=umls", f"store_dir={tmp_path}"])
    with pytest.raises(MohoneError) as told:
        make_plan({**config, group: {**config[group], key: value}}, tmp_path)
    assert str(told.value).startswith(sentence)


@pytest.mark.parametrize("model", ["transe", "transr", "rescal"])
def test_a_plan_of_a_model_that_no_memory_has_takes_none(tmp_path: Path, model: str) -> None:
    config = compose_plain([f"kge_model={model}", "kge_model.dim=40000", f"store_dir={tmp_path}"])
    plan = make_plan(config, tmp_path)  # 3.2 GB a relation, of TransR and RESCAL.
    assert plan.sketch(10**9, 1).n_entities == 10**9


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["~given"], None),
        (["check_memory=no"], "`check_memory` must be true or false, but is 'no'."),
        (["store_dir='a\0b'"], "`store_dir` must be a path, but is "),
    ],
)
def test_words_that_are_refused_or_taken(tmp_path: Path, typed: list[str], sentence: str | None) -> None:
    def plan() -> None:
        make_plan(absolute_paths(compose_plain(typed), tmp_path), tmp_path)

    if sentence is None:
        plan()
        return
    with pytest.raises(ConfigError) as refused:
        plan()
    assert str(refused.value).startswith(sentence)


def test_own_data_must_have_a_folder() -> None:
    with pytest.raises(ConfigError, match="train, valid and test files, but none is given"):
        check_paths(compose_plain(["dataset=folder"]))


LIGHTNING = "pytorch_lightning.callbacks"


@pytest.mark.parametrize(
    ("callback", "sentence"),
    [
        (
            {"_target_": f"{LIGHTNING}.EarlyStopping", "monitor": "valid/mmr"},
            "`callbacks.monitor` must be one of ",
        ),
        (
            {"_target_": f"{LIGHTNING}.ModelCheckpoint", "monitor": "mrr"},
            "valid/mrr, train/loss, but is 'mrr'.",
        ),
        ({"_target_": "fractions.Fraction"}, "`callbacks` must make a Callback, but makes a Fraction."),
    ],
)
def test_callbacks_that_cannot_serve_are_refused(tmp_path: Path, callback: Plain, sentence: str) -> None:
    config = compose_plain(["kge_model=transe", "dataset=umls", f"store_dir={tmp_path}"])
    with pytest.raises(ConfigError) as told:
        make_plan({**config, "callbacks": [callback]}, tmp_path)
    assert sentence in str(told.value)


def test_what_a_users_callback_logs_can_be_monitored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_logged.py").write_text(
        "from pytorch_lightning import Callback\nclass Own(Callback): ...\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    config = compose_plain(["kge_model=transe", "dataset=umls", f"store_dir={tmp_path}"])
    stop = {"_target_": f"{LIGHTNING}.EarlyStopping", "monitor": "own/figure"}
    plan = make_plan({**config, "callbacks": [{"_target_": "own_logged.Own"}, stop]}, tmp_path)
    assert len(plan.callbacks) == 2
