"""The commands of `docs/elsewhere.md` are ones that can be typed."""

import re
import shlex
from pathlib import Path

import pytest

from mohone.configuration.compose import compose_plain
from mohone.infuse import main

PAGE = (Path(__file__).parents[1] / "docs/elsewhere.md").read_text(encoding="utf-8")


def commands(name: str) -> list[list[str]]:
    found = re.findall(rf"^    python -m mohone\.{name} (.*)$", PAGE, re.MULTILINE)
    return [shlex.split(line) for line in found]


def test_each_infusion_fails_for_its_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert commands("infuse")
    for given in commands("infuse"):
        assert main(given) == 1
        assert given[0] in capsys.readouterr().err
        compose_plain([each for each in given if re.match(r"[a-z_.]+=", each)])


def test_the_run_can_be_composed() -> None:
    ((_, *given),) = commands("run")
    for infusion in given[-1].partition("=")[2].split(","):
        assert compose_plain([*given[:-1], f"infusion={infusion}"])["given"]["model"] == "runs/transe"


def test_the_models_of_the_text_are_there() -> None:
    for name in re.findall(r"`(?:kge_model=)?(pykeen_\w+)`", PAGE):
        assert name in compose_plain([f"kge_model={name}"])["choices"]["kge_model"]
