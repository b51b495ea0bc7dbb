"""What lies below a folder of results: links, and several data sets of one name."""

from pathlib import Path
from typing import Any

import pytest

from mohone.report import main
from mohone.reporting.datasets import name_apart
from mohone.reporting.folders import files_named
from mohone.reporting.results import RESULT, read_results
from tests.reporting.made_up import found, result


def test_links_to_folders_are_followed_without_circles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(tmp_path / "elsewhere", result(), result("complex"))
    found(tmp_path / "all", result("distmult"))
    links = {
        "best": tmp_path / "elsewhere/1",
        "best again": tmp_path / "elsewhere/1",
        "a again": tmp_path / "all/0",  # Found without a link, too: named so.
        "circle": tmp_path / "all",
        "nowhere": tmp_path / "nothing",
    }
    for name, target in links.items():
        (tmp_path / "all" / name).symlink_to(target)
    (tmp_path / "elsewhere/1/up").symlink_to(tmp_path)  # By it, all the rest is found.
    paths = [str(path.relative_to(tmp_path)) for path, _ in read_results([tmp_path / "all"])]
    assert paths == ["all/0/result.json", "all/best/result.json", "all/best/up/elsewhere/0/result.json"]
    assert capsys.readouterr().err == f"{tmp_path}/all/nowhere is a link to nothing and is passed over.\n"
    twice = files_named(RESULT, [tmp_path / "elsewhere", tmp_path, tmp_path / "all"])
    assert [str(path.relative_to(tmp_path)) for path in twice] == [
        "all/0/result.json",
        "elsewhere/0/result.json",
        "elsewhere/1/result.json",
    ]


def of_folder(path: str | None, fingerprint: str | None, **changed: Any) -> dict[str, Any]:
    name = {"name": "folder"} if fingerprint is None else {"name": "folder", "fingerprint": fingerprint}
    each = result(dataset=name, config={"dataset": {"name": "folder", "path": path}}, **changed)
    each["stages"]["baseline"]["key"] = f"{fingerprint}"
    return each


def test_two_data_sets_of_one_name_are_named_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(
        tmp_path,
        of_folder("/data/D", "aa"),
        of_folder("/data/D2", "bb"),
        of_folder("/data/D", None, status="failed", netemb="struct"),
        of_folder("/moved/D", "aa", netemb="struct"),
        of_folder("/nonexistent", None, status="failed"),
        result(),
    )
    names = [each["dataset"]["name"] for _, each in read_results([tmp_path])]
    assert names == [
        *("folder (D)", "folder (D2)", "folder (D)", "folder (D)"),
        "folder (nonexistent)",
        "fb15k237",
    ]
    assert main([str(tmp_path), "--format", "markdown"]) == 0
    assert "### folder (D2), recipe paper (negative_sampling): MRR, typed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("/data/D", "/data/D"), ["folder (aaaaaa)", "folder (bbbbbb)"]),  # Changed since.
        (("/a/D", "/b/D"), ["folder (a/D)", "folder (b/D)"]),
        ((None, None), ["folder (aaaaaa)", "folder (bbbbbb)"]),
        ((None, "/data/D"), ["folder (aaaaaa)", "folder (bbbbbb)"]),
    ],
)
def test_data_sets_are_named_by_as_much_as_it_takes(paths: tuple[str | None, ...], names: list[str]) -> None:
    results = [of_folder(path, 10 * letter) for path, letter in zip(paths, "ab", strict=True)]
    named = name_apart([(Path(f"{i}/{RESULT}"), each) for i, each in enumerate(results)])
    assert [each["dataset"]["name"] for _, each in named] == names
    assert results[0]["dataset"]["name"] == "folder"


def test_one_data_set_keeps_its_name_wherever_it_lay() -> None:
    results = [of_folder("/a/D", "aa"), of_folder("/b/E", "aa"), of_folder(None, None, status="failed")]
    named = name_apart([(Path(RESULT), each) for each in results])
    assert {each["dataset"]["name"] for _, each in named} == {"folder"}
