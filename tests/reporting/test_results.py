"""What is found below a folder: results, damaged files, links, data sets of one name."""

from pathlib import Path

import pytest

from mohone.report import main
from mohone.reporting.groups import AmbiguousError, group_results
from tests.reporting.made_up import found, result


def test_whole_files_that_are_no_results_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(tmp_path, result(), {"schema": 1, "status": "ok"}, {"schema": 1}, {})
    assert main([str(tmp_path), "--format", "markdown"]) == 0
    assert capsys.readouterr().err.count("is no result of this program") == 3
    (tmp_path / "0/result.json").unlink()
    assert main([str(tmp_path)]) == 1
    assert "There must be results" in capsys.readouterr().err


def test_two_baselines_of_a_model_are_refused(tmp_path: Path) -> None:
    other = result(netemb="struct", before=0.1)
    other["stages"]["baseline"]["key"] = "another"
    with pytest.raises(AmbiguousError, match=r"one baseline for a model and seed, but .*/0 and .*/1 differ"):
        group_results(found(tmp_path, result(), other))


def test_two_results_of_one_cell_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = result()
    other["stages"]["infusion"]["key"] = "another"
    with pytest.raises(AmbiguousError, match=r"one result for a cell, .*/0 and .*/1 differ"):
        group_results(found(tmp_path, result(), other))
    assert main([str(tmp_path), "--format", "markdown"]) == 1
    assert "one result for a cell" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 0  # Rows of jobs can always be shown.
