"""What all commands have in common; each is asked with arguments that end before any work."""

import argparse
import importlib
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import mohone
from mohone.core.command_line import Parser, YesNo

COMMANDS = sorted(path.stem for path in Path(mohone.__file__).parent.glob("[!_]*.py"))


def said(command: str, *arguments: str) -> int | str | None:
    """How a command ends, of these arguments."""
    sys.argv = [command, *arguments]
    try:
        return importlib.import_module(f"mohone.{command}").main()
    except SystemExit as ended:
        return ended.code


@pytest.fixture(autouse=True)
def _own_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_its_version(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(command, "--version") == 0
    assert capsys.readouterr().out == f"mohone {mohone.__version__}\n"


def test_a_short_option_of_hydras_is_no_other_of_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert said("run", "-c", "job", "--version") == 0
    assert "error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "arguments", "option"),
    [
        ("export", ["job", "out.npz", "--of", "model", "--of", "network"], "--of"),
        ("predict", ["job", "--out", "a.tsv", "--head", "a", "--head", "b", "--out", "b.tsv"], "--out"),
        ("predict", ["job", "--out=a.tsv", "--out=a.tsv"], "--out"),
        ("figure", ["map", "job", "--entity", "a", "--out", "a.png", "--out", "b.png"], "--out"),
        ("infuse", ["model", "--out", "a", "dim=3", "--out", "b"], "--out"),
        ("settings", ["--config-dir", "a", "dim=3", "--config-dir", "b"], "--config-dir"),
        ("run", ["--config-dir", "a", "dim=3", "--config-dir", "b"], "--config-dir"),
        ("run", ["-cn", "a", "--config-name=b"], "--config-name"),
    ],
)
def test_an_option_of_one_value_is_given_once(
    command: str, arguments: list[str], option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert said(command, *arguments) == 2
    assert f"{option}` must be given once, but " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_option_and_its_opposite_are_not_both_given(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="x")
    parser.add_argument("--header", action=YesNo)
    for arguments, header in ((["--header"], True), (["--no-header"], False), ([], None)):
        assert parser.parse_args(arguments).header is header  # And again, for it is counted by command line.
    with pytest.raises(SystemExit):
        parser.parse_args(["--header", "--no-header"])
    assert capsys.readouterr().err.endswith(
        "x: error: `--header` and `--no-header` must be given once, but are given again.\n"
    )


def test_positional_arguments_and_lists_are_as_they_were() -> None:
    parser = Parser()
    parser.add_argument("first")
    parser.add_argument("--name", action="append")
    parser.add_argument("--out")
    parser.add_argument("settings", nargs="*")
    given = parser.parse_intermixed_args(["a", "--name", "x", "b=1", "--out", "o", "--name", "y", "c=2"])
    assert given == argparse.Namespace(first="a", name=["x", "y"], out="o", settings=["b=1", "c=2"])


WITHOUT_TORCH = """
import contextlib, importlib, io, sys

def run(command, *arguments, ends=0):
    sys.argv = [command, *arguments]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            code = importlib.import_module(f"mohone.{command}").main()
    except SystemExit as ended:
        code = ended.code
    heavy = {"torch", "pytorch_lightning"} & {*sys.modules}
    assert code == ends and not heavy, (command, arguments, code, heavy)
    return said.getvalue()

def refused(sentence, command, *arguments):
    said = run(command, *arguments, ends=1)
    assert said == f"{sentence}\\n", said

for command in COMMANDS:
    run(command, "--version")
    run(command, "--help")
run("report", RESULTS)
run("settings", "recipe=strong", "kge_model=complex")
run("split", "triples.tsv", "split")

no_job = "no must be the folder of a job, but has no result.json."
no_file = "must be a file, but no is none."
for command in ("predict", "neighbors", "classify", "export"):
    last = {"predict": ["--relation", "r", "--head", "a"], "classify": []}.get(command, ["out.npz"])
    refused(no_job, command, "no", *last)
refused("`--data` must be a folder, but no is none.", "export", JOB, "out.npz", "--data", "no")
refused(f"`--labels` {no_file}", "predict", JOB, "--relation", "r", "--head", "a", "--labels", "no")
refused(f"`--queries` {no_file}", "predict", JOB, "--queries", "no")
refused(f"`--triples` {no_file}", "classify", JOB, "--triples", "no")
refused(no_job, "figure", "map", "no", "--entity", "a", "--out", "a.png")
refused("`FOLDER` must be a folder, but no is none.", "figure", "scale", "no", "--out", "a.png")
refused(f"`FILE` {no_file}", "split", "no", "folder")
refused(f"`FILE` {no_file}", "network", "no", "--export", "out.npz")
no_model = "no must be a folder of PyKEEN's or a file of vectors, but is not there."
refused(no_model, "infuse", "no", "--out", "o")
refused("no must be a folder of results, but is none.", "show", "no")
refused("no must be a folder of results, but is none.", "report", "no")
refused("`--config-dir` must be a folder, but no is none.", "settings", "--config-dir", "no")
refused("The configuration must be one that can be composed, but: Additional config directory "
        f"'{HERE}/no' not found.", "run", "--config-dir", "no")
run("run", "dataset=folder", "dataset.path=no", ends=1)
run("run", "pretrained.file=no", ends=1)
"""


def test_what_trains_nothing_and_what_is_not_there_need_no_torch(tmp_path: Path) -> None:
    lines = [f"{a}\tr\t{b}" for a in "abcd" for b in "abcd"]
    (tmp_path / "triples.tsv").write_text("\n".join(lines), encoding="utf-8")
    outputs = Path(mohone.__file__).parents[1] / "outputs/paper"
    job = next(path.parent for path in sorted(outputs.rglob("result.json")))
    known = {"COMMANDS": COMMANDS, "RESULTS": str(outputs), "JOB": str(job), "HERE": str(tmp_path)}
    script = "\n".join([*(f"{name} = {value!r}" for name, value in known.items()), WITHOUT_TORCH])
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "split/train.txt").exists()


def completed(script: str, command: str, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    typed = " ".join(shlex.quote(word) for word in (command, *words))
    lines = [script, f"COMP_WORDS=({typed})", f"COMP_CWORD={len(words)}"]
    lines += [f"_shtab_{command.replace('-', '_')}", 'printf "%s\\n" "${COMPREPLY[@]}"']
    ran = subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=True, timeout=60
    )
    return ran.stdout.split()


def test_a_shell_completes_each_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scripts = {}
    for command in COMMANDS:
        if command != "run":
            assert said(command, "--print-completion", "bash") == 0
            scripts[command] = capsys.readouterr().out
    (tmp_path / "outputs").mkdir()
    assert completed(scripts["export"], "mohone-export", "--of", "") == ["model", "baseline", "network"]
    assert completed(scripts["predict"], "mohone-predict", "--to") == ["--top"]
    assert completed(scripts["report"], "mohone-report", "out") == ["outputs"]
    assert "barbell" in completed(scripts["figure"], "mohone-figure", "bar")
    every = subprocess.run(
        ["bash", "-n"], input="\n".join(scripts.values()), text=True, check=False, timeout=60
    )
    assert every.returncode == 0


def test_hydra_completes_the_command_that_runs_jobs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {"COMP_LINE": "mohone netemb=s", "COMP_POINT": "15"}.items():
        monkeypatch.setenv(variable, value)
    assert said("run", "--shell-completion", "query=bash") == 0
    assert capsys.readouterr().out.split() == ["netemb=shnb", "netemb=struct"]


def test_completion_without_its_package_says_which_it_wants(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert said("export", "--print-completion", "bash") == 1
    assert capsys.readouterr().err.startswith(
        "`--print-completion` must have the package shtab: pip install "
    )


def test_the_package_as_a_command_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    package = importlib.import_module("mohone.__main__")
    assert package.main([]) == 0
    said = capsys.readouterr().out
    assert sorted(package.COMMANDS) == COMMANDS
    for name in COMMANDS:
        assert f"python -m mohone.{name}" in said
