"""Every choice of every group is a node for `hydra.utils.instantiate`, as any Hydra user would call it."""

from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch
from hydra.utils import instantiate
from lightning_fabric.utilities.exceptions import MisconfigurationException
from omegaconf import OmegaConf

from mohone.configuration.compose import GROUPS, compose_plain
from mohone.configuration.recipes import CONF
from mohone.data import FolderDataset, PackagedDataset, PublishedDataset
from mohone.experiment.loggers import JobLogger
from mohone.infusion import Infusion
from mohone.kge import KGEModel
from mohone.netemb import NetworkEmbedding
from mohone.training import Training

MADE: dict[str, type | tuple[type, ...]] = {
    "dataset": (FolderDataset, PackagedDataset, PublishedDataset),
    "kge_model": KGEModel,
    "training": Training,
    "netemb": NetworkEmbedding,
    "infusion": Infusion,
    "trainer": pl.Trainer,
    "logger": JobLogger,
}
CHOICES = [(group, path.stem) for group in GROUPS for path in sorted((CONF / group).glob("*.yaml"))]
NOTHING = [("netemb", "none"), ("infusion", "none")]


def test_every_group_is_tried() -> None:
    assert set(MADE) == set(GROUPS) == {group for group, _ in CHOICES}


@pytest.mark.parametrize(("group", "choice"), CHOICES)
def test_a_choice_makes_what_its_group_is_for(
    group: str, choice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    node = compose_plain([f"{group}={choice}"])[group]
    if (group, choice) in NOTHING:
        assert node == {}
        return
    if node.get("accelerator") == "gpu" and not torch.cuda.is_available():
        with pytest.raises(Exception, match="No supported gpu backend found") as refused:
            instantiate(node)
        assert isinstance(refused.value.__cause__, MisconfigurationException)
        return
    made: Any = instantiate(OmegaConf.create(node))
    if group == "kge_model":
        made = made(n_entities=4, n_relations=2)
        assert made.score_tails(torch.tensor([0]), torch.tensor([1])).shape == (1, 4)
    assert isinstance(made, MADE[group])


@pytest.mark.parametrize(
    ("setting", "path"),
    [("netemb.scale=[1,5]", "netemb.neighborhood"), ("infusion.side=[both,query]", "infusion")],
)
def test_hydras_lists_serve_as_well_as_pythons(setting: str, path: str) -> None:
    node = OmegaConf.select(OmegaConf.create(compose_plain([setting])), path)
    assert vars(instantiate(node)) == vars(instantiate(node, _convert_="all"))
