"""The commands of the README and of every page can be typed: each option, key and choice is one there is."""

import importlib
import re
import shlex
from itertools import product
from pathlib import Path

import pytest

from mohone.configuration.compose import compose_plain

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_COMMAND = re.compile(r"^    python -m mohone\.(\w+) ((?:.*\\\n)*.*)$", re.MULTILINE)
_NOT_KEYS = ("hydra.", "-", "hydra/")


def lines(*names: str) -> list[tuple[str, list[str]]]:
    """The command lines of these commands, each once; all others' if none is named."""
    found = {}
    for page in PAGES:
        for name, rest in _COMMAND.findall(page.read_text(encoding="utf-8")):
            typed = shlex.split(rest.replace("\\\n", " "), comments=True)
            if "..." in typed or "FOLDER..." in typed or "KIND" in typed or "--config-dir" in typed:
                continue
            if (name in names) == bool(names):
                found[name, tuple(typed)] = typed
    return [(name, typed) for (name, _), typed in found.items()]


def _swept(values: str, is_sweep: bool) -> list[str]:
    """Each value of a sweep; the first end of an interval."""
    if found := re.match(r"(?:tag\(log, ?)?(?:interval|choice|range)\(([^,]+)", values):
        return [found[1]]
    return values.split(",") if is_sweep and values[:1] != "[" else [values]


@pytest.mark.parametrize("typed", [typed for _, typed in lines("run", "settings", "plan")], ids=" ".join)
def test_each_job_can_be_composed(typed: list[str]) -> None:
    keys = [each.partition("=") for each in typed if not each.startswith(_NOT_KEYS)]
    several = [[f"{key}={value}" for value in _swept(values, "-m" in typed)] for key, _, values in keys]
    for job in product(*several):
        assert compose_plain(list(job))["kge_model"]


@pytest.mark.parametrize(
    ("name", "typed"),
    [each for each in lines() if each[0] not in ("run", "settings", "plan")],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_each_other_command_lacks_its_files_alone(
    name: str,
    typed: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = importlib.import_module(f"mohone.{name}").main(typed)
    except SystemExit as error:
        pytest.fail(f"{error.code}: {capsys.readouterr().err}")
    said = capsys.readouterr().err
    assert code == 1, said
    assert re.search(r"must (be|have|hold)|is not there|does not exist|No such file", said), said


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), (page.name, target)


def test_the_readme_is_a_page() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
