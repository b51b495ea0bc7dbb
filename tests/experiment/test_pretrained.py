"""Entity vectors from a file: matched by name, bit for bit, while relations are trained."""

import logging
from pathlib import Path
from typing import Any

import pytest
import torch

from mohone.configuration.compose import compose_plain
from mohone.core.errors import DataError
from mohone.core.named_vectors import write_vectors
from mohone.data import KnowledgeGraph
from mohone.data.datasets import FolderDataset
from mohone.experiment.plan import make_plan
from mohone.experiment.stages import Runner, Trained
from mohone.kge import KGEModel

FEW = [
    "training.max_epochs=5",
    "training.validate_every=1",
    "training.schedule=constant",
    "netemb=none",
    "dim=4",
]


def stages(kg: KnowledgeGraph, folder: Path, *settings: str) -> Runner:
    config = compose_plain([*FEW, f"store_dir={folder / 'store'}", *settings])
    runner = Runner(make_plan(config, folder), kg)
    runner.check()
    return runner


def model_of(runner: Runner) -> KGEModel:
    return runner.read(runner.baseline)


@pytest.fixture
def given(base: KnowledgeGraph, tmp_path: Path) -> tuple[Path, torch.Tensor]:
    """Vectors of a, b, c, d in a file of another order, with a name that is no entity; those of a are 7."""
    vectors = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    vectors[0] = 7.0
    order = [2, 0, 3, 1]
    names = [*(base.entities.names[i] for i in order), "nobody"]
    path = tmp_path / "given.safetensors"
    write_vectors(path, names, torch.cat([vectors[order], torch.zeros(1, 4)]))
    return path, vectors


@pytest.mark.parametrize(
    "settings", [[], ["kge_model.max_norm=1.0"], ["kge_model=transh"], ["kge_model=distmult"]]
)
def test_entities_stay_as_given_and_relations_are_trained(
    base: KnowledgeGraph,
    tmp_path: Path,
    given: tuple[Path, torch.Tensor],
    settings: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    path, vectors = given
    with caplog.at_level(logging.WARNING):
        trained = stages(base, tmp_path, f"pretrained.file={path}", *settings)
    assert "1 name is no entity of the data set, passed over" in caplog.text
    untrained = stages(base, tmp_path, *settings)
    model = model_of(trained)
    assert torch.equal(model.get_parameter("entity"), vectors)
    assert trained.keys != untrained.keys
    still = stages(base, tmp_path, f"pretrained.file={path}", *settings, "training.lr=1e-30")
    unmoved = model_of(still)
    assert not torch.equal(model.get_parameter("relation"), unmoved.get_parameter("relation"))


def test_a_name_twice_is_refused(base: KnowledgeGraph, tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npz", [*base.entities.names, "a"], torch.zeros(5, 4))
    with pytest.raises(DataError, match="must have one vector for each entity, but has several for 'a'"):
        stages(base, tmp_path, f"pretrained.file={tmp_path / 'v.npz'}")


@pytest.mark.parametrize("ending", [".txt", ".npz", ".safetensors"])
def test_vectors_that_were_written_for_names_with_white_space_are_found(tmp_path: Path, ending: str) -> None:
    names = ["a b", "c\u2028d", "e_f", "g\xa0h"]
    lines = [f"{names[i]}\tr\t{names[(i + 1) % 4]}\n" for i in range(4)]
    for split, some in (("train", lines[:3]), ("valid", lines[2:]), ("test", lines[3:])):
        (tmp_path / f"{split}.txt").write_text("".join(some), encoding="utf-8")
    kg = FolderDataset("mine", str(tmp_path)).load()
    vectors = torch.randn(4, 4)
    path = tmp_path / f"v{ending}"
    write_vectors(path, kg.entities.names, vectors)
    model = model_of(stages(kg, tmp_path, f"pretrained.file={path}"))
    assert torch.equal(model.get_parameter("entity"), vectors)


def test_thawed_entities_start_there_and_move(
    base: KnowledgeGraph, tmp_path: Path, given: tuple[Path, torch.Tensor]
) -> None:
    path, vectors = given
    thawed = stages(base, tmp_path, f"pretrained.file={path}", "pretrained.frozen=false", "training.lr=1e-7")
    entity = model_of(thawed).get_parameter("entity")
    assert not torch.equal(entity, vectors)
    torch.testing.assert_close(entity.detach(), vectors, atol=1e-4, rtol=0)


def test_the_key_is_the_files_content(
    base: KnowledgeGraph, tmp_path: Path, given: tuple[Path, torch.Tensor]
) -> None:
    path, vectors = given
    before = stages(base, tmp_path, f"pretrained.file={path}").keys
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(path.read_bytes())
    assert stages(base, tmp_path, f"pretrained.file={copy}").keys == before
    write_vectors(path, base.entities.names, vectors + 1)
    assert stages(base, tmp_path, f"pretrained.file={path}").keys != before


def test_a_longer_training_goes_on_from_its_own_state(
    base: KnowledgeGraph, tmp_path: Path, given: tuple[Path, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = given
    settings = [f"pretrained.file={path}", "pretrained.frozen=false", "training.patience=99"]

    def baseline(n_epochs: int, folder: Path = tmp_path) -> Trained:
        runner = stages(base, folder, *settings, f"training.max_epochs={n_epochs}")
        return runner.run(runner.baseline)

    baseline(2)
    longer, at_once = baseline(4), baseline(4, tmp_path / "other")
    assert longer.notes["history"] == at_once.notes["history"]
    calls: list[Any] = []
    monkeypatch.setattr("mohone.training.fit.fit", calls.append)
    assert baseline(4).reused
    assert not calls


@pytest.mark.parametrize(
    ("names", "width", "message"),
    [
        (["a", "b", "d"], 4, r"must have a vector for each entity, but has none for 'c'\."),
        (["a"], 4, r"has none for 'b' and 2 others\."),
        (["a", "b", "c", "d"], 5, r"must have vectors of 4 numbers for this model, but has them of 5\."),
    ],
)
def test_files_that_do_not_fit_are_refused(
    base: KnowledgeGraph, tmp_path: Path, names: list[str], width: int, message: str
) -> None:
    path = tmp_path / "v.npz"
    write_vectors(path, names, torch.zeros(len(names), width))
    with pytest.raises(DataError, match=message):
        stages(base, tmp_path, f"pretrained.file={path}")
    with pytest.raises(DataError, match=r"`pretrained.file` must be a file, but .*/no.npz is none\."):
        stages(base, tmp_path, f"pretrained.file={tmp_path}/no.npz")
    write_vectors(
        path, ["a", "b", "c", "d"], torch.tensor([[0.0], [1.0], [float("nan")], [2.0]]).expand(4, 4)
    )
    with pytest.raises(DataError, match=r"must have finite numbers, but the vector of 'c' has others\."):
        stages(base, tmp_path, f"pretrained.file={path}")
