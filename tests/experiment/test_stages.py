"""What stages may see: the test triples belong to the evaluation alone."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from numba import njit

from mohone.configuration.compose import compose_plain
from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evidence.model import EvidenceModel
from mohone.experiment.plan import make_plan
from mohone.experiment.stages import Runner
from mohone.experiment.stages.baseline import BaselineStage
from mohone.experiment.trained import TrainedJob
from tests.helpers.commands import TINY


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
        runner = Runner(make_plan(config, tmp_path), kg)
        trained = {name: runner.run(stage) for name, stage in runner.stages.items()}
        assert [each.reused for each in trained.values()] == [False] * 3
        models = [runner.read(stage) for stage in (runner.baseline, runner.infusion)]
        weights.append(
            [runner.read(runner.network).vectors]
            + [table for model in models for table in model.state_dict().values()]
        )
        notes.append((trained["baseline"].notes["history"], trained["infusion"].notes["selection"]))
    assert notes[0] == notes[1]
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))


def test_a_stages_seconds_are_without_those_of_compiling(
    umls: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def train(*_: Any) -> dict[str, Any]:
        njit(lambda x: x + 1)(1)
        return {"valid_mrr": 0.5}

    monkeypatch.setattr(BaselineStage, "train", train)
    caplog.set_level("INFO", "mohone")
    runner = Runner(make_plan(compose_plain(["netemb=none", f"store_dir={tmp_path}"]), tmp_path), umls)
    notes = runner.run(runner.baseline).notes
    assert 0 < notes["seconds"] < notes["seconds_compiling"]
    assert "baseline: compiling loops (once: they are kept)" in caplog.messages
    said = (
        f"baseline: done in {notes['seconds']:.1f} s, beside {notes['seconds_compiling']:.1f} s of compiling"
    )
    assert said in caplog.messages


def test_a_network_of_weights_wants_weights(umls: KnowledgeGraph, tmp_path: Path) -> None:
    config = compose_plain(["network.weighting=weight", f"store_dir={tmp_path}", *TINY])
    plan = make_plan(config, tmp_path)
    with pytest.raises(ConfigError, match=r"`network\.weighting=weight` must have triples with weights"):
        Runner(plan, umls).check()
    weighted = Runner(plan, umls.weighted(torch.arange(1, len(umls.train) + 1)))
    weighted.check()
    assert weighted.plan.network(weighted.kg).weight is not None
    assert set(weighted.keys.values()).isdisjoint(Runner(plan, umls).keys.values())


def test_a_baseline_beside_the_network_has_it_with_its_weights(umls: KnowledgeGraph, tmp_path: Path) -> None:
    settings = ["network.weighting=weight", "training.objective.network_weight=0.1", "infusion=none"]
    config = compose_plain([*settings, f"store_dir={tmp_path}", *TINY[:5]])
    plan = make_plan(config, tmp_path)
    tables = []
    for weights in (torch.ones(len(umls.train)), torch.arange(1.0, len(umls.train) + 1)):
        runner = Runner(plan, umls.weighted(weights))
        assert torch.equal(plan.network(runner.kg).weight, runner.read(runner.network).network.weight)  # type: ignore[arg-type]
        tables.append(runner.read(runner.baseline).entity_vectors)
    assert not torch.equal(*tables)


def test_the_network_is_part_of_a_baseline_only_if_it_trains_it(umls: KnowledgeGraph, tmp_path: Path) -> None:
    def runner(*settings: str) -> Runner:
        config = compose_plain([*TINY[:5], f"store_dir={tmp_path}", "infusion=none", *settings])
        return Runner(make_plan(config, tmp_path), umls)

    weight = "training.objective.network_weight=0.1"
    keys = [
        runner(netemb, *more).keys["baseline"]
        for more in ((), (weight,))
        for netemb in ("netemb=shnb", "netemb=struct")
    ]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    tables = []
    for more in ((), (weight,)):
        one = runner("netemb=shnb", *more)
        model = one.read(one.baseline)
        tables.append(model.state_dict())
    assert list(tables[0]) == list(tables[1])  # Without the contexts.
    assert not torch.equal(tables[0]["entity"], tables[1]["entity"])


def test_a_network_loss_without_a_network_embedding_is_refused(umls: KnowledgeGraph, tmp_path: Path) -> None:
    config = compose_plain(["netemb=none", "infusion=none", "training.objective.network_weight=0.1"])
    with pytest.raises(
        ConfigError, match=r"`training\.network_weight` must be 0 without a network embedding"
    ):
        Runner(make_plan({**config, "store_dir": str(tmp_path)}, tmp_path), umls).check()


def test_evidence_lies_around_the_one_baseline(umls: KnowledgeGraph, tmp_path: Path) -> None:
    typed = [*(each for each in TINY if not each.startswith("infusion.")), "infusion=evidence"]
    runner = Runner(make_plan(compose_plain([*typed, f"store_dir={tmp_path}"]), tmp_path), umls)
    job = TrainedJob(runner)
    model = job.model
    assert isinstance(model, EvidenceModel)
    assert model.inner is job.baseline
    path = runner.run(runner.infusion).folder / "model.pt"
    kept = torch.load(path, weights_only=True)
    assert kept
    assert not [name for name in kept if name.startswith("inner.")]
    torch.save(model.state_dict(), path)  # As they were kept before, the baseline a second time.
    again = runner.read(runner.infusion)
    assert again.inner is job.baseline
    assert all(torch.equal(a, b) for a, b in zip(again.own_state().values(), kept.values(), strict=True))


@pytest.mark.parametrize("infusion", ["retrain", "evidence_frequency", "evidence_random"])
def test_an_infusion_that_asks_no_embedding_has_none(
    umls: KnowledgeGraph, tmp_path: Path, infusion: str
) -> None:
    def runner(netemb: str) -> Runner:
        small = [each for each in TINY if not each.startswith(("netemb", "infusion"))]
        typed = [*small, f"store_dir={tmp_path}", f"netemb={netemb}", f"infusion={infusion}"]
        return Runner(make_plan(compose_plain(typed), tmp_path), umls)

    jobs = {netemb: TrainedJob(runner(netemb)) for netemb in ("none", "shnb", "node2vec")}
    keys = [job.runner.keys for job in jobs.values()]
    assert all(each == keys[0] for each in keys)
    assert list(keys[0]) == ["baseline", "infusion"]
    job = jobs["none"]
    job.runner.check()
    assert job.is_infused
    assert not job.has_network
    assert job.model.n_entities == umls.n_entities


def test_without_an_embedding_an_infusion_that_asks_it_is_left_out(
    umls: KnowledgeGraph, tmp_path: Path
) -> None:
    config = compose_plain([f"store_dir={tmp_path}", "netemb=none", "infusion=evidence"])
    assert list(Runner(make_plan(config, tmp_path), umls).keys) == ["baseline"]
