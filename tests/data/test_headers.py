"""First lines that name columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from mohone.core.errors import ConfigError, DataError
from mohone.data import FolderDataset, from_triples
from mohone.split import main
from tests.helpers.commands import mohone
from tests.helpers.graphs import BASE, kg_of, write_folder

HEADER = "head relation tail"
WITH_HEADER = {split: [HEADER, *lines, *lines] for split, lines in BASE.items()}


def load(folder: Path, header: bool | None = None) -> FolderDataset:
    return FolderDataset("base", str(folder), header=header)


def test_a_header_in_all_files_is_none_of_the_triples_and_said_once(tmp_path: Path) -> None:
    kg = load(write_folder(tmp_path, WITH_HEADER)).load()
    assert kg.fingerprint == kg_of(BASE).fingerprint
    (warning,) = kg.report.warnings
    assert "the first line of all files (head, relation, tail) is taken for the names of columns" in warning
    assert "`dataset.header=false` keeps it" in warning


def test_what_is_said_of_the_header_decides(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, WITH_HEADER)
    assert load(folder, True).load().fingerprint == kg_of(BASE).fingerprint
    assert load(folder, True).load().report.warnings == []
    assert load(folder, False).load().fingerprint == kg_of(WITH_HEADER).fingerprint
    with pytest.raises(ConfigError, match=r"`dataset\.header` must be true, false or null, but is 'yes'"):
        FolderDataset("base", str(folder), header="yes").load()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "splits",
    [
        {**WITH_HEADER, "test": BASE["test"]},
        {split: [*lines, "tail r a"] for split, lines in WITH_HEADER.items()},
        {split: [HEADER] for split in BASE},
    ],
    ids=["not in all files", "a word stands elsewhere", "nothing else is there"],
)
def test_other_first_lines_are_triples(tmp_path: Path, splits: dict[str, list[str]]) -> None:
    kg = load(write_folder(tmp_path, splits)).load()
    assert kg.fingerprint == kg_of(splits).fingerprint


def test_a_split_of_a_header_alone_is_empty(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {**WITH_HEADER, "valid": [HEADER]})
    with pytest.raises(DataError, match="The valid split of base must hold triples, but is empty"):
        load(folder).load()


@pytest.mark.parametrize("splits", [["train"], ["train", "test"], ["valid"]])
def test_a_header_that_not_all_files_have_is_a_triple_and_a_warning(
    tmp_path: Path, splits: list[str]
) -> None:
    mixed = {split: WITH_HEADER[split] if split in splits else BASE[split] for split in BASE}
    said = (
        f"the first {{}} of {' and '.join(splits)} (head, relation, tail) seems to name columns, but is "
        "kept as a triple, since not all of train, valid, test have such a one: take it out, or give it "
        "to all"
    )
    kg = load(write_folder(tmp_path, mixed)).load()
    assert kg.fingerprint == kg_of(mixed).fingerprint
    assert said.format("line") in kg.report.warnings
    assert load(tmp_path, False).load().report.warnings == [
        each for each in kg.report.warnings if "seems" not in each
    ]
    triples = {split: [tuple(line.split()) for line in lines] for split, lines in mixed.items()}
    in_memory = from_triples(triples["train"], triples["valid"], triples["test"])
    assert said.format("triple") in in_memory.report.warnings


def test_a_header_of_weighted_files(tmp_path: Path) -> None:
    splits = {split: [f"{line} {i + 1}" for i, line in enumerate(lines * 2)] for split, lines in BASE.items()}
    plain = FolderDataset("base", str(write_folder(tmp_path / "a", splits)), weights=True).load()
    with_header = {split: [f"{HEADER} weight", *lines] for split, lines in splits.items()}
    folder = write_folder(tmp_path / "b", with_header)
    kg = FolderDataset("base", str(folder), weights=True).load()
    assert kg.fingerprint == plain.fingerprint
    with pytest.raises(
        DataError, match=r"train\.txt, line 1: the weight must be a number > 0, but is 'weight'"
    ):
        FolderDataset("base", str(folder), weights=True, header=False).load()


TRIPLES = [f"n{i}\tr\tn{i * k % 20}\n" for i in range(20) for k in (1, 3, 7, 9)]


@pytest.mark.parametrize(
    ("first", "flags", "n"),
    [
        ("Subject\tPredicate\tObject\n", [], len(set(TRIPLES))),
        ("Subject\tPredicate\tObject\n", ["--no-header"], len(set(TRIPLES)) + 1),
        ("x\ty\tz\n", [], len(set(TRIPLES)) + 1),
        ("x\ty\tz\n", ["--header"], len(set(TRIPLES))),
    ],
)
def test_a_single_file_to_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, flags: list[str], n: int
) -> None:
    (tmp_path / "all.tsv").write_text(first + "".join(TRIPLES))
    assert main([str(tmp_path / "all.tsv"), str(tmp_path / "out"), *flags]) == 0
    written = [line for file in (tmp_path / "out").iterdir() for line in file.read_text().splitlines()]
    assert len(written) == n
    said = "the first line (Subject, Predicate, Object) is taken for the names of columns"
    assert (said in capsys.readouterr().err) == (first[0] == "S" and not flags)


GOOD = [f"e{i}\t{r}\te{(i * k) % 9}\t0.1" for i in range(9) for k, r in ((2, "r"), (4, "s"), (5, "t"))]


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (["e1\tr\te2\t1,5"], "line 1: the weight must be a number > 0, but is '1,5'"),
        (["e1\tr\te2\tscore"], "line 1: the weight must be a number > 0, but is 'score'"),
        (
            ["e1\tr\te2\t1e400"],
            "line 1: the weight must be a number > 0 that 32 bits can hold, but is '1e400'",
        ),
        (["", "e1\tr\te2\tx", "e1\tr\te3\ty"], "line 2: the weight must be a number > 0, but is 'x'"),
        (["head\tr\ttail\tscore", "e1\tr\te3\ty"], "line 2: the weight must be a number > 0, but is 'y'"),
    ],
)
def test_a_first_line_without_a_weight_is_split_into_nothing(
    tmp_path: Path, first: list[str], said: str
) -> None:
    file = tmp_path / "one.txt"
    file.write_text("\n".join([*first, *GOOD]) + "\n")
    ran = mohone(tmp_path, str(file), "out", "--weights", module="mohone.split")
    assert (ran.returncode, ran.stderr) == (1, f"{file}, {said}.\n")
    assert not (tmp_path / "out").exists()


def test_weights_are_split_as_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("\n".join(GOOD) + "\n")
    assert mohone(tmp_path, "one.txt", "out", "--weights", module="mohone.split").returncode == 0
    lines = [line for path in (tmp_path / "out").iterdir() for line in path.read_text().splitlines()]
    assert sorted(lines) == sorted(set(GOOD))
