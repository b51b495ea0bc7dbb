"""Which file set a value: the command says it, and is right."""

from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from mohone.configuration.compose import compose_plain
from mohone.configuration.origins import COMMAND_LINE, settings_of
from mohone.configuration.recipes import CONF
from mohone.core.errors import ConfigError
from mohone.settings import main

STRONG_TRANSR = ["recipe=strong", "kge_model=transr", "dataset=wn18rr"]


def origins(*arguments: str, folder: Path | None = None) -> dict[str, str]:
    return {each.key: each.origin for each in settings_of(list(arguments), folder)}


def test_strong_transr_on_wn18rr() -> None:
    found = origins(*STRONG_TRANSR, "training.patience=7", "training.schedule=constant", "seed=3")
    for key, origin in {
        "training.optimizer.lr": "conf/recipe/pair/strong/wn18rr-translational.yaml",
        "training.fit.max_epochs": "conf/recipe/pair/strong/wn18rr-translational.yaml",
        "training.fit.warmup_epochs": "conf/recipe/model/strong/one_vs_all-transr.yaml",
        "training.objective.n_candidates": "conf/recipe/dataset/strong/wn18rr.yaml",
        "kge_model.reciprocal": "conf/recipe/model/strong/one_vs_all-translational.yaml",
        "kge_model.step_scale": "conf/kge_model/transr.yaml",
        "kge_model.dim": "conf/kge_model/transr.yaml, ${dim}",
        "training.fit.patience": COMMAND_LINE,
        "training.scheduler": COMMAND_LINE,
        "seed": COMMAND_LINE,
        "dim": "conf/config.yaml",
    }.items():
        assert found[key] == origin, key


def said_in(path: Path, key: str) -> Any:
    """What a file says of a key; one of a group says its keys without the group's name."""
    group = path.relative_to(CONF).parts[0]
    keys = [key, key.removeprefix(group).removeprefix(".")]
    node = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    for each in keys:
        try:
            return reduce(lambda at, part: at[part], each.split(".") if each else [], node)
        except (KeyError, TypeError):
            continue
    return None


@pytest.mark.parametrize(
    "arguments",
    [STRONG_TRANSR, ["recipe=paper", "kge_model=complex", "infusion=query"], ["netemb=none", "logger=wandb"]],
)
def test_every_value_is_that_of_the_job_and_stands_in_the_file_named(arguments: list[str]) -> None:
    found = settings_of(arguments)
    job = OmegaConf.create({k: v for k, v in compose_plain(arguments).items() if k != "choices"})
    rebuilt = OmegaConf.create()
    for each in found:
        OmegaConf.update(rebuilt, each.key, each.value)
        file, _, other = each.origin.partition(", ")
        assert said_in(CONF.parent / file, each.key) == (other or each.value), each
    assert rebuilt == job


def test_a_value_that_replaces_a_group_and_a_file_that_goes_before_another() -> None:
    paper = origins("recipe=paper", "kge_model=complex", "infusion=query")
    assert paper["training.scheduler"] == "conf/recipe/paper.yaml"
    assert paper["infusion.side"] == "conf/infusion/query.yaml"
    assert paper["infusion.beta"] == "conf/infusion/retrofit.yaml"
    whole = origins("training.optimizer={lr:0.5}")
    assert whole["training.optimizer.lr"] == COMMAND_LINE
    assert whole["training.optimizer._target_"] == "conf/training/negative_sampling.yaml"


def test_a_file_of_the_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kge_model").mkdir()
    file = tmp_path / "kge_model/mine.yaml"
    file.write_text("defaults: [transe]\nnorm: 1\n")
    assert main(["--config-dir", str(tmp_path), "kge_model=mine", "training.lr=0.1"]) == 0
    lines = {line.split()[0]: line.split(maxsplit=2)[1:] for line in capsys.readouterr().out.splitlines()}
    assert lines["kge_model.norm"] == ["1", str(file)]
    assert lines["kge_model.squared"] == ["false", "conf/kge_model/transe.yaml"]
    assert lines["training.optimizer.lr"] == ["0.1", COMMAND_LINE]


def test_what_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="`kge_model` must be one of "):
        settings_of(["kge_model=nosuch"])
    for whole in ("hydra=null", "netemb=null"):
        with pytest.raises(ConfigError, match="is null"):
            settings_of([whole])
    assert main(["training.lrr=0.1"]) == 1
    assert "`training.lrr` must be one of " in capsys.readouterr().err
