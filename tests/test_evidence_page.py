"""The commands of `docs/evidence.md` are ones that can be typed."""

import re
import shlex
from itertools import product
from pathlib import Path

import pytest

from mohone import figure, predict, report
from mohone.experiment.configuration import compose_plain

PAGE = (Path(__file__).parents[1] / "docs/evidence.md").read_text(encoding="utf-8")
COMMANDS = {
    name: [
        shlex.split(line) for line in re.findall(rf"^    python -m mohone\.{name} (.*)$", PAGE, re.MULTILINE)
    ]
    for name in ("run", "predict", "report", "figure")
}


@pytest.mark.parametrize("given", COMMANDS["run"], ids=" ".join)
def test_each_run_can_be_composed(given: list[str]) -> None:
    choices = [each.partition("=") for each in given if each != "-m" and not each.startswith("hydra.")]
    jobs = [
        compose_plain(list(job))
        for job in product(*([f"{key}={value}" for value in values.split(",")] for key, _, values in choices))
    ]
    for job in jobs:
        assert job["choices"]["infusion"].startswith("evidence") or len(jobs) > 1


@pytest.mark.parametrize(
    ("name", "main"), [("report", report.main), ("predict", predict.main), ("figure", figure.main)]
)
def test_each_other_command_fails_for_its_folder_alone(
    name: str,
    main: object,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert COMMANDS[name]
    for given in COMMANDS[name]:
        assert main(given) == 1  # type: ignore[operator]
        assert "must be" in capsys.readouterr().err


def test_keys_and_choices_of_the_text_are_those_there_are() -> None:
    node = compose_plain(["infusion=evidence"])["infusion"]
    named = set(re.findall(r"`infusion\.(\w+)", PAGE))
    assert {"experts", "first", "candidates", "penalty", "fit_on"} == named <= set(node)
    for choice in re.findall(r"`infusion=(\w+)`", PAGE):
        compose_plain([f"infusion={choice}"])
    experts = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert experts == {*node["experts"], "linked"}
