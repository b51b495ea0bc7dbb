"""What a configuration cannot be, before any work."""

from pathlib import Path

import pytest

from mohone.configuration.compose import compose_plain
from mohone.configuration.origins import settings_of
from mohone.core.errors import ConfigError, MohoneError
from mohone.experiment.plan import make_plan


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
    ],
)
def test_values_that_nothing_can_be_made_of(
    tmp_path: Path, group: str, key: str, value: object, sentence: str
) -> None:
    config = compose_plain(["kge_model=transe", "dataset=umls", f"store_dir={tmp_path}"])
    with pytest.raises(MohoneError) as told:
        make_plan({**config, group: {**config[group], key: value}}, tmp_path)
    assert str(told.value).startswith(sentence)
