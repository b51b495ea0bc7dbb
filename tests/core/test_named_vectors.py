from pathlib import Path

import numpy as np
import pytest
import torch

from mohone.core.errors import ConfigError, DataError
from mohone.core.named_vectors import FORMATS, read_vectors, write_vectors

NAMES = ["01", "1", "Łódź 東京", "a_b"]


@pytest.mark.parametrize("ending", FORMATS)
def test_what_is_written_is_read(tmp_path: Path, ending: str) -> None:
    vectors = torch.randn(4, 3)
    path = tmp_path / f"out{ending}"
    write_vectors(path, NAMES, vectors)
    names, read = read_vectors(path)
    assert names == [name.replace(" ", "_") if ending == ".txt" else name for name in NAMES]
    torch.testing.assert_close(read, vectors, atol=1e-6, rtol=1e-6)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_word2vec_text(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.txt", ["a", "b c"], torch.tensor([[1.0, -0.5], [0.25, 2.0]]))
    assert (tmp_path / "v.txt").read_text() == "2 2\na 1 -0.5\nb_c 0.25 2\n"


def test_word2vec_ends_its_lines_in_blanks(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("2 2\na 1 2 \nb 3 4 \n", encoding="utf-8")
    names, vectors = read_vectors(tmp_path / "v.txt")
    assert (names, vectors.tolist()) == (["a", "b"], [[1.0, 2.0], [3.0, 4.0]])


def test_names_that_a_text_would_not_tell_apart_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must stay distinct with `_` for blanks, but 'a_b' stands for two"):
        write_vectors(tmp_path / "v.txt", ["a b", "a_b"], torch.zeros(2, 2))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shape", [(3, 2), (2,), (1, 2)])
def test_each_name_must_have_a_row(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.savez(tmp_path / "v.npz", names=np.array(["a", "b"]), vectors=np.zeros(shape))
    with pytest.raises(DataError, match="must have a row of numbers for each of its 2 names"):
        read_vectors(tmp_path / "v.npz")


def test_bad_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"ending must be one of \.npz, \.safetensors, \.txt, but is '\.csv'"
    ):
        write_vectors(tmp_path / "v.csv", [], torch.zeros(0, 2))
    for name, text in (("v.txt", "3 2\na 1 2\n"), ("v.npz", "no"), ("v.safetensors", "no")):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match="must hold vectors and names"):
            read_vectors(tmp_path / name)
    with pytest.raises(DataError, match="must hold vectors and names"):
        read_vectors(tmp_path / "none.npz")
