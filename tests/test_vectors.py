from pathlib import Path

import pytest
import torch

from mohone.errors import ConfigError, DataError
from mohone.vectors import FORMATS, read_vectors, write_vectors

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
