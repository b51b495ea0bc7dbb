import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from mohone.core.errors import ConfigError, DataError
from mohone.core.named_vectors import FORMATS, read_vectors, rows_by_name, write_vectors

# White space to some reader, also to those that split lines.
WHITE = " \r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2002\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
NAMES = [
    "01",
    "1",
    "Łódź",
    "a_b",
    "nul\0within",
    "\U0001d569",
    '"quoted"',
    "#",
    "",
    *(f"in{x}{i}" for i, x in enumerate(WHITE)),
]


@pytest.mark.parametrize("ending", FORMATS)
def test_what_is_written_is_read(tmp_path: Path, ending: str, caplog: pytest.LogCaptureFixture) -> None:
    vectors = torch.randn(len(NAMES), 3)
    path = tmp_path / f"out{ending}"
    write_vectors(path, NAMES, vectors)
    names, read = read_vectors(path)
    kept = NAMES[: -len(WHITE)]
    assert names == (NAMES if ending != ".txt" else [*kept, *(f"in_{i}" for i in range(len(WHITE)))])
    assert torch.equal(read, vectors)
    assert rows_by_name(path, names, NAMES).tolist() == list(range(len(NAMES)))
    said = f"white space in names is written as `_` (in {len(WHITE)} of them, such as 'in 0')"
    assert (said in caplog.text) == (ending == ".txt")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_no_reader_of_words_or_lines_is_misled_by_a_name(tmp_path: Path) -> None:
    """What splits at white space, as gensim's and most others' readers do, finds a name and three numbers."""
    write_vectors(tmp_path / "v.txt", NAMES[9:], torch.randn(len(NAMES) - 9, 3))
    _, *lines = (tmp_path / "v.txt").read_bytes().decode().splitlines()
    assert len(lines) == len(WHITE)
    assert {len(line.split()) for line in lines} == {4}


def test_a_name_that_numpy_would_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must not end in a NUL, but 'a\\x00' does: write .safetensors"):
        write_vectors(tmp_path / "v.npz", ["a\0"], torch.zeros(1, 2))
    write_vectors(tmp_path / "v.safetensors", ["a\0"], torch.zeros(1, 2))
    assert read_vectors(tmp_path / "v.safetensors")[0] == ["a\0"]


def test_word2vec_text(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.txt", ["a", "b c"], torch.tensor([[1.0, -0.5], [0.25, 2.0]]))
    assert (tmp_path / "v.txt").read_text() == "2 2\na 1 -0.5\nb_c 0.25 2\n"


def test_lines_of_windows_and_names_of_others(tmp_path: Path) -> None:
    """A file of another program's: its blanks in names are kept, its lines may end as on Windows."""
    (tmp_path / "v.txt").write_bytes("2 2\r\na b 1 2\r\nc\x85\u2028\r_ 3 4 \r\n".encode())
    names, vectors = read_vectors(tmp_path / "v.txt")
    assert (names, vectors.tolist()) == (["a b", "c\x85\u2028\r_"], [[1.0, 2.0], [3.0, 4.0]])


def test_word2vec_ends_its_lines_in_blanks(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("2 2\na 1 2 \nb 3 4 \n", encoding="utf-8")
    names, vectors = read_vectors(tmp_path / "v.txt")
    assert (names, vectors.tolist()) == (["a", "b"], [[1.0, 2.0], [3.0, 4.0]])


def test_names_that_a_text_would_not_tell_apart_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"must stay distinct with `_` for white space, but 'a_b' stands for two"
    ):
        write_vectors(tmp_path / "v.txt", ["a b", "a_b"], torch.zeros(2, 2))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shape", [(3, 2), (2,), (1, 2)])
def test_each_name_must_have_a_row(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.savez(tmp_path / "v.npz", names=np.array(["a", "b"]), vectors=np.zeros(shape))
    with pytest.raises(DataError, match="must have a row of numbers for each of its 2 names"):
        read_vectors(tmp_path / "v.npz")


def test_bad_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"ending of v\.csv must be one of \.npz, \.safetensors, \.txt, but is '\.csv'"
    ):
        write_vectors(tmp_path / "v.csv", [], torch.zeros(0, 2))
    for name, text in (("v.txt", "3 2\na 1 2\n"), ("v.npz", "no"), ("v.safetensors", "no")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match="must hold vectors and names"):
            read_vectors(tmp_path / name)
    with pytest.raises(DataError, match="must hold vectors and names"):
        read_vectors(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "names", [np.array([1, 2]), np.array([b"a", b"b"]), np.array("ab"), np.array([["a"], ["b"]])]
)
def test_names_that_are_no_texts_are_refused(tmp_path: Path, names: np.ndarray) -> None:
    np.savez(tmp_path / "v.npz", names=names, vectors=np.zeros((2, 3)))
    with pytest.raises(
        DataError,
        match=r"v\.npz must have texts for its names, one for each row, but has (a str|.* among them)",
    ):
        read_vectors(tmp_path / "v.npz")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a 1 2\nb 3 4\n", "line 1 is not the number of rows and that of the numbers in each"),
        ("a 1\n", "line 1 is not the number"),
        ("", "line 1 is not the number"),
        ("2 2\na 1 2\nb 3 four\n", "line 3: could not convert string to float: 'four'"),
        ("2 2\na 1 2\nb 3\n", "line 3 is not a name and 2 numbers"),
        ("2 2\n\na 1 2\n", "line 2 is not a name and 2 numbers"),
        ("3 2\na 1 2\n", "3 rows are announced and 1 are there"),
    ],
)
def test_what_is_wrong_with_a_text_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(DataError, match=f"must hold vectors and names, but: {said}"):
        read_vectors(tmp_path / "v.txt")


def test_a_full_disk_is_an_error_of_the_system_also_in_safetensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(*_: Any) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("mohone.core.named_vectors.save_file", save)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_vectors(tmp_path / "v.safetensors", ["a"], torch.zeros(1, 2))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "v.safetensors"))
