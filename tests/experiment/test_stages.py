"""What stages may see: the test triples belong to the evaluation alone."""

import dataclasses
from pathlib import Path

import pytest
import torch

from mohone.core.config import compose_plain
from mohone.data import KnowledgeGraph
from mohone.experiment.stages import Stages
from mohone.experiment.trainers import TrainerFactory
from tests.test_run import TINY


@pytest.mark.parametrize(
    ("recipe", "netemb"), [("default", "struct"), ("default", "node2vec"), ("strong", "shnb")]
)
def test_no_test_triple_touches_training_stopping_or_the_grid(
    umls: KnowledgeGraph, tmp_path: Path, recipe: str, netemb: str
) -> None:
    shuffled = umls.test[torch.randperm(len(umls.test), generator=torch.Generator().manual_seed(1))]
    others = torch.stack([umls.test[:, 0], shuffled[:, 1], shuffled[:, 2]], dim=1)
    assert not torch.equal(others.unique(dim=0), umls.test.unique(dim=0))
    weights, notes = [], []
    for i, test in enumerate((umls.test, others)):
        kg = dataclasses.replace(umls, test=test)
        store = tmp_path / str(i)
        config = compose_plain([f"recipe={recipe}", f"netemb={netemb}", f"store_dir={store}", *TINY])
        stages = Stages(config, kg, TrainerFactory(config["trainer"], tmp_path))
        network, baseline = stages.netemb(), stages.baseline()
        infusion = stages.infusion(network, baseline)
        assert [stage.reused for stage in (network, baseline, infusion)] == [False] * 3
        weights.append(
            [stages.read_vectors(network)]
            + [t for s in (baseline, infusion) for t in stages.read_model(s).state_dict().values()]
        )
        notes.append((baseline.info["history"], infusion.info["selection"]))
    assert notes[0] == notes[1]
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))
