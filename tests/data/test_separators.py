"""Lines that have another separator than they are read with."""

from __future__ import annotations

from pathlib import Path

import pytest

from mohone.core.errors import ConfigError, DataError
from mohone.data import FolderDataset
from mohone.data.edges import read_edges
from mohone.data.reading import read_triples
from mohone.split import main
from tests.helpers.graphs import BASE, kg_of, write_folder

QUOTES = "; quotes are not understood, they are part of names"


@pytest.mark.parametrize(
    ("line", "delimiter", "said"),
    [
        ("Björk,plays,pop", "\t", "; `--delimiter ,` (`dataset.delimiter`) would make it 3."),
        ("a;r;b", "\t", "; `--delimiter ';'` (`dataset.delimiter`) would make it 3."),
        ("a|r|b|0.5", "\t", "; `--delimiter '|'` (`dataset.delimiter`) would make it 4."),
        ("a, b;r;c, d, e", "\t", "; `--delimiter ';'` (`dataset.delimiter`) would make it 3."),
        ("a\tr\tb", ",", r"; `--delimiter '\t'` (`dataset.delimiter`) would make it 3."),
        ("a,b", "\t", "."),
        ("a,b,c,d,e", "\t", "."),
        ("a r b", "\t", "."),
        ("a\tr\tb\t0.5", "\t", "; `--weights` (`dataset.weights=true`) takes the fourth for a weight."),
        ("a\tr\tb\t1e-3", "\t", "; `--weights` (`dataset.weights=true`) takes the fourth for a weight."),
        ("a\tr\tb\tc", "\t", "."),
        ("a,r,b\tc", "\t", "."),
        ('"a","r","b"', "\t", f"; `--delimiter ,` (`dataset.delimiter`) would make it 3{QUOTES}."),
        ('"Beatles, The",r,b', "\t", f"; `--delimiter ,` (`dataset.delimiter`) would make it 4{QUOTES}."),
        ('a,r,"b, c"', ",", f"{QUOTES}."),
        ('a,5" disk', ",", "."),
    ],
)
def test_a_separator_that_would_do_is_named_and_quotes_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, delimiter: str, said: str
) -> None:
    file = tmp_path / "music.csv"
    file.write_text(f"{line}\n", encoding="utf-8")
    assert main([str(file), str(tmp_path / "out"), "--delimiter", delimiter]) == 1
    shown = capsys.readouterr().err.strip()
    assert shown.startswith(f"{file}, line 1: found ")
    assert shown.partition("-separated)")[2] == said


def test_edges_of_another_separator(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("a;b\n")
    with pytest.raises(
        DataError, match=r"tab-separated; `--delimiter ';'` \(`dataset\.delimiter`\) would make it 2\.$"
    ):
        read_edges(file)


def test_a_backslash_and_a_t_are_a_tab(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, BASE)
    assert FolderDataset("base", str(folder), delimiter=r"\t").load().fingerprint == kg_of(BASE).fingerprint
    assert len(read_edges(folder / "train.txt", r"\t").ends) == 6
    lines = [f"n{i}\tr\tn{i * k % 20}\n" for i in range(20) for k in (1, 3, 7, 9)]
    (tmp_path / "all.tsv").write_text("".join(lines))
    assert main([str(tmp_path / "all.tsv"), str(tmp_path / "out"), "--delimiter", r"\t"]) == 0
    with pytest.raises(ConfigError, match=r"must be one character, but is '\\\\n'"):
        read_triples(folder / "train.txt", r"\n")
