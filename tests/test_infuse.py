"""`python -m mohone.infuse`: what another tool trained goes in, and comes out infused in the same form."""

import json
from pathlib import Path

import pytest
import torch

from mohone.core.named_vectors import read_vectors, write_vectors
from mohone.elsewhere import open_source
from mohone.predict import main as predict
from tests.helpers.commands import TINY, mohone
from tests.helpers.graphs import write_folder

FOLDERS = Path(__file__).parent / "elsewhere/pykeen"
LINES = {
    "train": ["01 r 1", "1 r é", "é s NA", "NA s 1", "01 s é"],
    "valid": ["NA r 01", "01 r é"],
    "test": ["1 s é"],
}
INFUSION = [*TINY[1:], "infusion.beta=0.3", "infusion.neighbors=2", "progress=false", "netemb.dim=4"]


@pytest.fixture
def usual(tmp_path: Path) -> list[str]:
    """The settings of all jobs here."""
    data = write_folder(tmp_path / "data", LINES)
    return ["dataset=folder", f"dataset.path={data}", f"store_dir={tmp_path / 'store'}", *INFUSION]


def infuse(folder: Path, *arguments: str) -> tuple[int, str, str]:
    ended = mohone(folder, *arguments, module="mohone.infuse")
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("name", ["transe", "complex-inverse", "transr"])
def test_a_folder_of_pykeen_comes_back_infused(tmp_path: Path, usual: list[str], name: str) -> None:
    out = tmp_path / "out"
    code, said, err = infuse(tmp_path, str(FOLDERS / name), "--out", str(out), "--job", "job", *usual)
    assert code == 0, err
    assert said.endswith(f"{out}: the infused model, in the form of {FOLDERS / name}\n")
    result = json.loads((tmp_path / "job/result.json").read_text())
    assert result["baseline"]["filtered"]["mrr"] > 0
    assert result["selection"]["beta"] == 0.3
    assert result["stages"]["baseline"].keys() >= {"key", "valid_mrr"}
    before, after = open_source(FOLDERS / name), open_source(out)
    for old, new in zip(before.vectors(), after.vectors(), strict=True):
        assert torch.equal(old[3], new[3])  # Of no entity of the data set.
        assert not torch.equal(old[0], new[0])
    # What was written is what was evaluated: as a baseline it has the figures of the infused model.
    code, _, err = infuse(tmp_path, str(out), "--out", "o", "--job", "again", *usual, "infusion=retrofit")
    assert code == 0, err
    again = json.loads((tmp_path / "again/result.json").read_text())
    assert again["baseline"]["filtered"] == result["infused"]["filtered"]
    assert (tmp_path / "store/netemb").is_dir()
    assert again["reused"] == ["netemb"]


def test_two_files_come_back_as_two_files(tmp_path: Path, usual: list[str]) -> None:
    names = ["é", "01", "1", "NA"]
    torch.manual_seed(0)
    write_vectors(tmp_path / "e.npz", names, torch.randn(4, 6))
    write_vectors(tmp_path / "r.txt", ["s", "r"], torch.randn(2, 6))
    given = ["e.npz", "--relations", "r.txt", "--out", "out", "--job", "job"]
    code, _, err = infuse(tmp_path, *given, *usual)
    assert (code, err) == (1, "`kge_model` must be set for e.npz, as in kge_model=transe, but is not.\n")
    code, _, err = infuse(tmp_path, *given, *usual, "kge_model=complex")
    assert code == 0, err
    config = json.loads((tmp_path / "job/result.json").read_text())["config"]
    assert config["kge_model"]["dim"] == 3
    assert read_vectors(tmp_path / "out/e.npz")[0] == names
    assert read_vectors(tmp_path / "out/r.txt")[0] == ["s", "r"]
    assert not torch.equal(read_vectors(tmp_path / "out/e.npz")[1], read_vectors(tmp_path / "e.npz")[1])
    code, _, err = infuse(tmp_path, *given, *usual, "kge_model=complex")
    assert (code, err) == (1, "`--out` must not be there yet, but out is.\n")


def test_the_key_of_a_baseline_is_its_tables(tmp_path: Path, usual: list[str]) -> None:
    torch.manual_seed(0)
    tables = (["é", "01", "1", "NA"], torch.randn(4, 6)), (["s", "r"], torch.randn(2, 6))
    keys = []
    for ending, shift in ((".npz", 0), (".safetensors", 0), (".npz", 1)):
        for name, (names, rows) in zip("er", tables, strict=True):
            write_vectors(tmp_path / f"{name}{shift}{ending}", names, rows + shift)
        e, r = (f"{name}{shift}{ending}" for name in "er")
        job = f"job{ending}{shift}"
        code, _, err = infuse(
            tmp_path, e, "--relations", r, "--out", f"out{job}", "--job", job, "kge_model=distmult", *usual
        )
        assert code == 0, err
        result = json.loads((tmp_path / job / "result.json").read_text())
        keys.append(result["stages"]["baseline"]["key"])
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("infusion", ["query", "evidence_frequency"])
def test_what_is_no_vectors_is_said(
    tmp_path: Path, usual: list[str], infusion: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [each for each in usual if not each.startswith("infusion.") or infusion == "query"]
    given = [str(FOLDERS / "distmult"), "--out", "out", "--job", "job", f"infusion={infusion}"]
    code, said, err = infuse(tmp_path, *given, *settings)
    assert code == 0, err
    assert "Nothing is written to out, since what this infusion learned is more than a vector" in said
    assert not (tmp_path / "out").exists()
    assert predict([str(tmp_path / "job"), "--relation", "r", "--head", "01"]) == 0
    assert capsys.readouterr().out.count("\n") > 0


@pytest.mark.parametrize("form", ["rotate", "e.safetensors"])
def test_vectors_of_models_that_we_lack_are_retrofitted_alone(
    tmp_path: Path, usual: list[str], form: str
) -> None:
    source, out = FOLDERS / form, tmp_path / "out"
    if form != "rotate":
        source, out = tmp_path / form, tmp_path / "out.npz"
        torch.manual_seed(0)
        write_vectors(source, ["é", "01", "1", "NA"], torch.randn(4, 5))
    code, said, err = infuse(tmp_path, str(source), "--out", str(out), *usual)
    assert code == 0, err
    assert f"{out}: 4 entity vectors retrofitted, in the form of {source}" in said
    before, after = (open_source(path).vectors()[0] for path in (source, out))
    assert before.shape == after.shape
    # Every one of the four has three neighbours at most: drawn to others, they lie nearer to each other.
    names = open_source(source).entities
    rows = [names.index(name) for name in ("01", "1", "NA", "é")]
    assert after[rows].std(0).mean() < before[rows].std(0).mean()
    code, _, err = infuse(tmp_path, str(source), "--out", "o.npz", *usual, "infusion=query")
    assert code == 1
    assert err.endswith("\n`infusion` must be retrofit for entity vectors alone, but is another one.\n")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["kge_model=complex"], "`kge_model` must be transe for "),
        (["kge_model.norm=2"], "`kge_model.norm` must be 1 for "),
        (["kge_model.dim=7"], "`kge_model.dim` must be 4 for "),
        (["pretrained.file=data/train.txt"], "`pretrained.file` must be null where `given.model` is set"),
        (["netemb=nosuch"], "`netemb` must be one of"),
        (
            ["given.relations=data/train.txt"],
            "`given` must be left out, for the command's own arguments say it",
        ),
    ],
)
def test_what_cannot_be_is_a_sentence(
    tmp_path: Path, usual: list[str], settings: list[str], message: str
) -> None:
    code, _, err = infuse(tmp_path, str(FOLDERS / "transe"), "--out", "out", *usual, *settings)
    assert code == 1
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_job_of_a_sweep_may_have_a_given_model(tmp_path: Path, usual: list[str]) -> None:
    settings = [*usual, f"given.model={FOLDERS / 'transe'}", "kge_model.norm=1", "kge_model.dim=4"]
    settings += ["kge_model.reciprocal=false"]
    ended = mohone(tmp_path, "hydra.run.dir=job", *settings)
    assert ended.returncode == 0, ended.stderr
    ended = mohone(tmp_path, "hydra.run.dir=other", *settings, "kge_model.norm=2")
    assert ended.returncode == 1
    assert "`kge_model.norm` must be 1 for" in ended.stdout + ended.stderr
