"""A job that has ended, opened after its data, its store or the vectors it began with moved or changed."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mohone import export, figure, predict
from mohone.core.errors import DataError, OccupiedError
from mohone.core.named_vectors import read_vectors, write_vectors
from mohone.experiment.store import StageStore
from mohone.opened.finished import FinishedJob, open_job
from mohone.reporting.results import finished
from tests.helpers.commands import TINY, mohone, results
from tests.helpers.graphs import BASE, write_folder

ASKED = ["--relation", "ř", "--head", "a", "--own"]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `data`, `store` and `job`, which began with vectors of `given.npz`."""
    root = tmp_path_factory.mktemp("first")
    data = {split: [line.replace(" r ", " ř ") for line in lines] for split, lines in BASE.items()}
    write_folder(root / "data", data)
    write_vectors(root / "given.npz", ["a", "b", "c", "d"], torch.randn(4, 4))
    where = ["dataset=folder", f"dataset.path={root}/data", f"store_dir={root}/store"]
    given = [f"pretrained.file={root}/given.npz", "kge_model=distmult", "infusion.beta=[0.2]"]
    ran = mohone(root, *TINY, *where, *given, "infusion.neighbors=[2]", "hydra.run.dir=job")
    assert ran.returncode == 0, ran.stderr
    return root


@pytest.fixture
def root(first: Path, tmp_path: Path) -> Path:
    """A copy of all of it, whose job knows where things lay at first."""
    return shutil.copytree(first, tmp_path / "copy")


def store_of(job: FinishedJob, stage: str) -> Path:
    return job.runner.plan.store.place(stage, job.runner.keys[stage])


def answers(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    code = predict.main([*arguments, *ASKED, "--known"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out.splitlines()


def tree(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def test_a_whole_store_is_only_read(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("It cannot be written.")

    monkeypatch.setattr("mohone.experiment.store.check_writable", refuse)
    monkeypatch.setattr("mohone.experiment.store.locked", refuse)
    before = tree(first)
    assert len(answers(capsys, f"{first}/job")) == 4
    for kind in ("model", "baseline", "network"):
        assert export.main([f"{first}/job", f"{tmp_path}/v.npz", "--of", kind]) == 0
    assert figure.main(["map", f"{first}/job", "--entity", "a", "--out", f"{tmp_path}/map.png"]) == 0
    assert tree(first) == before


def test_it_is_said_which_split_has_changed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, data = f"{root}/job", f"{root}/data"
    for split, sentence in (
        ("valid", "but valid has changed since."),
        ("test", "but valid and test have changed"),
    ):
        with (root / f"data/{split}.txt").open("a", encoding="utf-8") as file:
            file.write("d\tř\tb\n")
        assert predict.main([job, *ASKED, "--data", data]) == 1
        assert f"{job} must be a job on the data as they are now, {sentence}" in capsys.readouterr().err
    result = json.loads((root / "job/result.json").read_text())
    del result["dataset"]["fingerprints"]  # As results were before.
    (root / "job/result.json").write_text(json.dumps(result))
    assert export.main([job, f"{root}/v.npz", "--data", data]) == 1
    assert (
        "must be a job on the data as they are now, but they have changed since." in capsys.readouterr().err
    )


def test_another_jobs_folder_says_what_differs(first: Path) -> None:
    (result,) = results(first)
    config = {**result["config"], "choices": {**result["config"]["choices"], "kge_model": "complex"}}
    now = {**result["dataset"]["fingerprints"], "valid": "0"}
    with pytest.raises(
        OccupiedError, match="`kge_model` is 'distmult' there, 'complex' here; valid has changed"
    ):
        finished(first / "job", {}, config, now)
    with pytest.raises(OccupiedError, match="of the same settings, but valid has changed"):
        finished(first / "job", {}, result["config"], now)


def test_moved_data_are_named(root: Path, first: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = answers(capsys, f"{first}/job")
    result = json.loads((root / "job/result.json").read_text())
    result["config"]["dataset"]["path"] = f"{root}/gone"
    (root / "job/result.json").write_text(json.dumps(result))
    assert predict.main([f"{root}/job", *ASKED]) == 1
    said = capsys.readouterr().err
    assert f"`dataset.path` must be a folder, but {root}/gone is none." in said
    assert "If the job's data lie elsewhere now, name their folder by `--data`." in said
    assert answers(capsys, f"{root}/job", "--data", f"{root}/data") == wanted
    assert export.main([f"{root}/job", f"{root}/v.npz", "--data", f"{root}/data"]) == 0
    map_ = ["map", f"{root}/job", "--entity", "a", "--out", f"{root}/map.png"]
    assert figure.main([*map_, "--data", f"{root}/data"]) == 0
    assert predict.main([f"{root}/job", *ASKED, "--data", f"{root}/none"]) == 1
    assert capsys.readouterr().err == f"`--data` must be a folder, but {root}/none is none.\n"


def test_a_moved_store_is_named_and_vectors_to_begin_with_may_be_gone(root: Path) -> None:
    (root / "given.npz").unlink()
    result = json.loads((root / "job/result.json").read_text())
    result["config"]["store_dir"] = None  # Of a copy without paths.
    result["config"]["pretrained"]["file"] = f"{root}/given.npz"
    (root / "job/result.json").write_text(json.dumps(result))
    with pytest.raises(DataError, match=r"a copy that knows no `store_dir`: name it by `--store`\."):
        open_job(root / "job")
    job = open_job(root / "job", store=root / "store", train=False)
    assert torch.equal(job.baseline.entity_vectors, job.baseline.get_parameter("entity"))
    assert job.space.vectors.shape == (4, 4)


def test_a_deleted_store_is_spoken_of_before_all_is_trained_again(
    root: Path, first: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    wanted = answers(capsys, f"{first}/job")
    store, places = root / "new", []
    keys = open_job(first / "job").runner.keys
    assert predict.main([f"{root}/job", *ASKED, "--store", f"{store}", "--no-train"]) == 1
    place = store / "infusion" / keys["infusion"]
    sentence = (
        f"{place} must be the trained infusion, but is not there: without `--no-train` it is trained again."
    )
    assert capsys.readouterr().err == f"{sentence}\n"
    assert not store.exists()
    with caplog.at_level(logging.WARNING):
        assert answers(capsys, f"{root}/job", "--store", f"{store}") == wanted
    places = [
        record.getMessage()
        for record in caplog.records
        if "is not there; it is trained" in record.getMessage()
    ]
    assert [line.partition(":")[0] for line in places] == ["infusion", "netemb", "baseline"]
    assert answers(capsys, f"{root}/job", "--store", f"{store}", "--no-train") == wanted


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def flip(path: Path) -> None:
    """Change a byte of the numbers."""
    content = bytearray(path.read_bytes())
    numbers = torch.load(path, weights_only=True)
    tensor = numbers if isinstance(numbers, torch.Tensor) else numbers["entity"]
    content[content.index(tensor.contiguous().numpy().tobytes()) + 5] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("stage", "name", "damage", "fault"),
    [
        ("baseline", "model.pt", cut, "has a damaged model.pt (File is not a zip file)"),
        ("infusion", "model.pt", flip, "has a damaged model.pt ("),
        ("netemb", "vectors.pt", flip, "has a damaged vectors.pt ("),
        ("netemb", "vectors.pt", Path.unlink, "has no vectors.pt"),
        ("infusion", "info.json", cut, "has a damaged info.json ("),
    ],
)
def test_a_damaged_stage_is_named_and_trained_again(
    root: Path,
    caplog: pytest.LogCaptureFixture,
    stage: str,
    name: str,
    damage: Callable[[Path], None],
    fault: str,
) -> None:
    def opened(train: bool = True) -> FinishedJob:
        return open_job(root / "job", store=root / "store", train=train)

    def read(job: FinishedJob) -> torch.Tensor:
        made = job.runner.read(job.runner.stages[stage])
        return made.vectors.clone() if stage == "netemb" else made.entity_vectors

    wanted, place = read(opened()), store_of(opened(), stage)
    damage(place / name)
    with pytest.raises(DataError) as refused:
        read(opened(train=False))
    assert f"{place} must be the trained {stage}, but {fault}" in str(refused.value)
    with caplog.at_level(logging.WARNING):
        assert torch.equal(read(opened()), wanted)
    assert f"{stage}: {place} {fault}" in caplog.text
    caplog.clear()
    assert torch.equal(read(opened(train=False)), wanted)
    assert not caplog.records


def test_a_sweep_trains_a_damaged_stage_again(root: Path) -> None:
    job = open_job(root / "job", store=root / "store")
    cut(store_of(job, "baseline") / "model.pt")
    where = ["dataset=folder", f"dataset.path={root}/data", f"store_dir={root}/store", "kge_model=distmult"]
    given = [f"pretrained.file={root}/given.npz", "infusion.beta=[0.2]", "infusion.neighbors=[2]"]
    ran = mohone(root, *TINY, *where, *given, "hydra.run.dir=again")
    assert ran.returncode == 0, ran.stderr
    assert f"baseline: {store_of(job, 'baseline')} has a damaged model.pt" in ran.stdout
    (_, again) = results(root)
    assert again["reused"] == ["netemb", "infusion"]


def test_two_that_find_a_stage_damaged_build_it_once(tmp_path: Path) -> None:
    store, built = StageStore(tmp_path), []

    def build(folder: Path) -> None:
        built.append(folder)
        (folder / "model").write_text("whole")

    def is_whole(folder: Path) -> bool:
        return (folder / "model").is_file() and (folder / "model").read_text() == "whole"

    place = store.place("s", "k")
    place.mkdir(parents=True)
    (place / "model").write_text("ha")
    assert [store.get("s", "k", build, is_whole) for _ in range(2)] == [(place, False), (place, True)]
    assert len(built) == 1


def test_names_are_utf_8_whatever_the_locale_is(first: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What Python hands to a command where the locale is C and its UTF-8 mode is off."""
    escaped = "ř".encode().decode("ascii", "surrogateescape")
    assert predict.main([f"{first}/job", "--relation", escaped, "--head", "a", "--known", "--own"]) == 0
    assert capsys.readouterr().out.splitlines() == answers(capsys, f"{first}/job")
    assert predict.main([f"{first}/job", "--relation", escaped * 2, "--head", "a"]) == 1
    assert "but 'řř' is none (there is 'ř')." in capsys.readouterr().err


def test_vectors_of_a_job_are_read_back(first: Path, tmp_path: Path) -> None:
    for ending in (".txt", ".npz", ".safetensors"):
        assert export.main([f"{first}/job", f"{tmp_path}/v{ending}"]) == 0
        names, vectors = read_vectors(tmp_path / f"v{ending}")
        assert names == ["a", "b", "c", "d"]
        assert torch.equal(vectors, open_job(first / "job").model.entity_vectors)
