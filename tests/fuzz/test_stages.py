"""What a store keeps: stages, the state of a training, graphs; what is damaged is made again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohone.core.files import read_json
from mohone.data import kept
from mohone.experiment.stages.base import NOTES, Stage, Trained
from mohone.experiment.stages.runner import Runner
from mohone.infusion import NetworkSpace
from mohone.opened.finished import open_job
from mohone.training.resume import progress_in
from tests.helpers.fuzz import Refused, changed, mutated, outcome, tries
from tests.helpers.graphs import BASE, kg_of

STAGES = ["baseline", "infusion", "netemb"]


class Kept(NamedTuple):
    """A stage of a job in a copy of its store."""

    runner: Runner
    stage: Stage
    folder: Path

    def read(self) -> list[torch.Tensor] | Refused:
        """The tensors that the stage has made, or why not."""
        if fault := self.stage.fault(self.folder):
            assert fault.splitlines() == [fault]
            return Refused(fault)
        trained = Trained("key", self.folder, read_json(self.folder / NOTES), reused=True)
        made = outcome(lambda: self.stage.read(trained, self.runner), self.folder)
        if isinstance(made, Refused):
            return made
        return [made.vectors] if isinstance(made, NetworkSpace) else list(made.state_dict().values())


@pytest.fixture
def stage(job: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Kept:
    runner = open_job(job).runner
    folder = runner.plan.store.place(request.param, runner.keys[request.param])
    return Kept(runner, runner.stages[request.param], Path(shutil.copytree(folder, tmp_path / "stage")))


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("stage", STAGES, indirect=True)
@tries(20)
@given(draw=st.data())
def test_tensors_of_a_stage(stage: Kept, draw: st.DataObject) -> None:
    """The very numbers that were trained, or what makes the stage be trained again."""
    path = stage.folder / stage.stage.file
    sound, wanted = path.read_bytes(), stage.read()
    path.write_bytes(draw.draw(mutated(sound)))
    try:
        read = stage.read()
    finally:
        path.write_bytes(sound)  # The next example starts from it, whatever this one ends with.
    assert isinstance(read, Refused) or same(read, wanted)


@pytest.mark.parametrize("stage", STAGES, indirect=True)
@tries(20)
@given(draw=st.data())
def test_notes_of_a_stage(stage: Kept, draw: st.DataObject) -> None:
    path = stage.folder / NOTES
    sound, wanted = path.read_bytes(), stage.read()
    path.write_bytes(
        draw.draw(mutated(sound) | changed(json.loads(sound)).map(lambda x: json.dumps(x).encode()))
    )
    try:
        read = stage.read()
    finally:
        path.write_bytes(sound)
    assert isinstance(read, Refused) or same(read, wanted)


@pytest.mark.parametrize("stage", ["baseline"], indirect=True)
def test_a_stage_of_another_model_is_no_traceback(stage: Kept) -> None:
    torch.save({"entity": torch.ones(3, 3)}, stage.folder / "model.pt")
    assert "must hold the weights of this model, but holds others: delete " in str(stage.read())


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("state") / "s.ckpt"
    content: dict[str, Any] = {
        "epoch": 4,
        "state_dict": {"_extra_state": {"seconds": 2.5}, "w": torch.ones(9)},
    }
    torch.save(content, path)
    return path.read_bytes()


@tries(30)
@given(draw=st.data())
def test_the_state_of_a_training(tmp_path: Path, state: bytes, draw: st.DataObject) -> None:
    """What it says and all of its numbers, or nothing: then the training begins anew."""
    path = tmp_path / "s.ckpt"
    path.write_bytes(draw.draw(mutated(state)))
    found = progress_in(path)
    assert found in {(5, 2.5), (0, 0.0)}
    if found[0]:
        assert torch.equal(torch.load(path, weights_only=True)["state_dict"]["w"], torch.ones(9))


KG = kg_of(BASE)
FILES = ("train.npy", "valid.npy", "test.npy", "entities.npy", "relations.npy", "rest.json", "sums.json")


@tries(30)
@given(draw=st.data())
def test_kept_graphs(tmp_path: Path, draw: st.DataObject) -> None:
    """The very graph, or one of the exceptions after which the files are read again."""
    shutil.rmtree(tmp_path / "kept", ignore_errors=True)
    (tmp_path / "kept").mkdir()
    kept.keep(tmp_path / "kept", KG)
    path = tmp_path / "kept" / draw.draw(st.sampled_from(FILES))
    path.write_bytes(draw.draw(mutated(path.read_bytes())))
    try:
        kg = kept.open_kept(tmp_path / "kept")
    except kept.DAMAGED:
        return
    assert all(torch.equal(getattr(kg, split), getattr(KG, split)) for split in BASE)
    assert (kg.entities.names, kg.relations.names) == (KG.entities.names, KG.relations.names)
    assert (kg.fingerprint, kg.fingerprints, kg.report) == (KG.fingerprint, dict(KG.fingerprints), KG.report)
