"""`docs/adding.md` does what it says: its blocks are written out, and its commands are typed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.commands import mohone, mohone_process, results

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
QUICK = [
    "dim=4",
    "training.max_epochs=2",
    "training.validate_every=1",
    "+netemb.min_steps=5",
    "+netemb.min_epochs=1",
]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page: the first line of a block is its file, blocks of one file follow each other."""
    folder = tmp_path_factory.mktemp("mine")
    for block in blocks("python") + blocks("yaml"):
        name, _, text = block.removeprefix("# ").partition("\n")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    return folder


@pytest.fixture(scope="module")
def ran(mine: Path) -> subprocess.CompletedProcess[str]:
    python, m, module, *arguments = shlex.split(blocks("sh")[0].replace("\\\n", ""))
    assert (python, m, module) == ("python", "-m", "mohone.run")
    return mohone_process(mine, *arguments, *QUICK)


def test_all_parts_of_the_page_meet_in_one_job(mine: Path, ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (result,) = results(mine / "here")
    assert result["status"] == "ok"
    assert [result[group] for group in ("kge_model", "netemb", "infusion")] == ["mine"] * 3
    assert result["dataset"]["n_entities"] == 40
    assert result["config"]["training"]["optimizer"]["lr"] == 0.02
    assert result["selection"]["chosen"] in ("a nudge", "no nudge")
    assert "goodbye after 2 epochs" in ran.stdout


def test_its_settings_are_told_and_the_job_is_opened_again(
    mine: Path, ran: subprocess.CompletedProcess[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(mine)
    assert ran.returncode == 0
    settings = mohone(mine, "--config-dir", "conf", "kge_model=mine", module="mohone.settings")
    assert f"{mine}/conf/kge_model/mine.yaml" in settings.stdout
    asked = ["here", "--relation", "divides", "--head", "7", "--top", "3", "--known"]
    answers = mohone(mine, *asked, module="mohone.predict")
    assert len(answers.stdout.splitlines()) == 3, answers.stderr


def test_the_generic_tests_cover_them(mine: Path) -> None:
    given, _, command = blocks("sh")[1].replace("MINE", str(mine)).partition("python -m pytest ")
    said = dict(word.split("=") for word in given.split())
    assert set(said) == {"PYTHONPATH", "MOHONE_CONFIG_DIR"}
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *shlex.split(command)],
        cwd=ROOT,
        env={**os.environ, **said, "PYTHONPATH": os.pathsep.join([str(ROOT), said["PYTHONPATH"]])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout
    n_passed = int(re.search(r"(\d+) passed", found.stdout)[1])  # type: ignore[index]
    assert n_passed >= 10
