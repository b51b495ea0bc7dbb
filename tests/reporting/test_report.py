"""The forms that results are written in, and the commands that write them."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collect_results import main as collect
from mohone.report import FORMS, main
from mohone.reporting.formats import rows_of, to_csv, to_latex
from mohone.reporting.groups import group_results
from mohone.reporting.results import read_results
from mohone.reporting.tables import main_table
from tests.reporting.made_up import found, result

REPORT = [sys.executable, "-m", "mohone.report"]


def test_the_rows_of_csv_and_json_are_the_results(tmp_path: Path) -> None:
    failed = result(status="failed", error="E")
    results = found(
        tmp_path, result("transe", "shnb", 0.30, 0.32), result("transe", "none", after=None), failed
    )
    rows = rows_of(results)
    assert len(rows) == 2 * 3 * 2 + 1
    assert (rows[-1]["status"], rows[-1]["folder"]) == ("failed", str(tmp_path / "2"))
    typed = next(
        r for r in rows if r.get("setting") == "typed" and r["metric"] == "mrr" and r["netemb"] == "shnb"
    )
    assert (typed["baseline"], typed["infused"], typed["p_value"]) == (0.30, 0.32, 0.01)
    assert (typed["paper_baseline"], typed["paper_infused"]) == (pytest.approx(0.296), pytest.approx(0.315))
    assert "paper_baseline" not in rows[0]
    read = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert [row["baseline"] for row in read] == [str(row.get("baseline", "")) for row in rows]


def test_latex_is_escaped(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result()))
    text = to_latex([main_table(group, "typed", "mrr")])
    assert r"TransE & 30.0 & 32.0$^{\star}$ & +2.0 & +6.7\% \\" in text
    assert r"negative\_sampling" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


@pytest.mark.parametrize(
    ("form", "name", "model"),
    [
        ("jobs", "jobs.md", "transe"),
        ("markdown", "tables.md", "TransE"),
        ("latex", "tables.tex", "TransE"),
        ("csv", "tables.csv", "transe"),
        ("json", "tables.json", "transe"),
    ],
)
def test_the_command_writes_files(tmp_path: Path, form: str, name: str, model: str) -> None:
    found(tmp_path / "in", result())
    assert (
        main([str(tmp_path / "in"), "--format", form, "--against", "paper", "--out", str(tmp_path / "out")])
        == 0
    )
    assert model in (tmp_path / "out" / name).read_text(encoding="utf-8")


def test_charts_have_a_file_for_each_metric(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found(tmp_path, result(), result("complex", "struct"))
    assert main([str(tmp_path), "--format", "png", "--setting", "typed", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "fb15k237-paper-negative_sampling-typed-mrr.png",
        "fb15k237-paper-negative_sampling-typed-hits10.png",
    }


def test_results_are_collected_without_the_machines_paths(tmp_path: Path) -> None:
    config = {
        "data_dir": "/home/me/data",
        "store_dir": "/tmp/s",
        "dataset": {"name": "umls", "path": "/x"},
        "seed": 0,
    }
    failed = result(status="failed", error="E")
    found(tmp_path / "in", result(config=config), failed)
    assert collect(tmp_path / "in", tmp_path / "out") == 0
    ((path, kept),) = read_results([tmp_path / "out"])
    assert path == tmp_path / "out/0/result.json"
    assert kept["config"] == {
        "data_dir": None,
        "store_dir": None,
        "dataset": {"name": "umls", "path": None},
        "seed": 0,
    }


def test_every_form_is_told_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert all(f"{name}: {form.about}" in said for name, form in FORMS.items())


def test_names_of_every_kind_stay_in_their_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    odd = "a|b/c\nd_{$x$}~^\\"
    found(tmp_path / "in", result(odd, dataset={"name": odd}), result(odd, "struct", dataset={"name": odd}))
    assert main([str(tmp_path / "in"), "--format", "markdown"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert {len(line.replace(r"\|", "").split("|")) for line in rows[:4]} == {15}
    assert r"a\|b/c d_{$x$}~^" in rows[2]
    (table, *_) = [main_table(each, "typed", "mrr") for each in group_results(read_results([tmp_path]))]
    row = to_latex([table]).splitlines()[7]
    assert r"d\_\{\$x\$\}\textasciitilde{}\textasciicircum{}\textbackslash{} & 30.0" in row
    assert main([str(tmp_path / "in"), "--format", "png", "--out", str(tmp_path / "out")]) == 0
    assert len(list((tmp_path / "out").glob("*.png"))) == 2


def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    found(tmp_path, result(dataset={"name": "Łódź\udcff"}))
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = subprocess.run(
        [*REPORT, str(tmp_path)], capture_output=True, text=True, env=plain, timeout=60, check=True
    )
    assert ran.stderr == ""
    assert r"| \u0141\xf3d\u017a\udcff " in ran.stdout


def test_a_reader_who_has_left_is_no_error(tmp_path: Path) -> None:
    """As `mohone.report ... | head -3` may find it."""
    found(tmp_path, result())
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [*REPORT, str(tmp_path)], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, b"")
