"""Edge lists: what their columns are taken for."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mohone.core.errors import DataError
from mohone.data.edges import read_edges
from mohone.graph.network import Network


def write(folder: Path, *lines: str) -> Path:
    path = folder / "edges.tsv"
    path.write_text("".join(line.replace(" ", "\t") + "\n" for line in lines))
    return path


def test_pairs_and_triples(tmp_path: Path) -> None:
    edges = read_edges(write(tmp_path, "b a", "a c"))
    assert (edges.names, edges.ends.tolist(), edges.weights) == (("a", "b", "c"), [[1, 0], [0, 2]], None)
    edges = read_edges(write(tmp_path, "b x a", "a y c"))
    assert (edges.names, edges.ends.tolist(), edges.notes) == (("a", "b", "c"), [[1, 0], [0, 2]], ())


def test_numbers_that_can_only_be_weights_are(tmp_path: Path) -> None:
    path = write(tmp_path, "a b 0.5", "b c 2", "b a 0.25")
    edges = read_edges(path)
    assert edges.names == ("a", "b", "c")
    assert edges.weights is not None
    assert edges.weights.tolist() == [0.5, 2, 0.25]
    assert "taken for weights: --no-weights" in edges.notes[0]
    assert read_edges(path, weights=False).names == ("0.25", "0.5", "2", "a", "b")
    network = Network.from_edges(*edges.ends.T, 3, weights=edges.weights)
    assert network.weight is not None
    assert list(
        zip(network.source.tolist(), network.target.tolist(), network.weight.tolist(), strict=True)
    ) == [
        (0, 1, 0.75),
        (1, 0, 0.75),
        (1, 2, 2.0),
        (2, 1, 2.0),
    ]


def test_numbers_that_are_nodes_are(tmp_path: Path) -> None:
    edges = read_edges(write(tmp_path, "00012 _hypernym 00345", "00345 _part 00012"))
    assert (edges.names, edges.weights) == (("00012", "00345"), None)


@pytest.mark.parametrize("lines", [["1 2 1", "2 3 2"], ["a b 7", "c d 8"]])
def test_numbers_that_may_be_either_are_refused(tmp_path: Path, lines: list[str]) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(
        DataError, match="`--weights` says that it is a weight, `--no-weights` that it is a node"
    ):
        read_edges(path)
    weights = read_edges(path, weights=True).weights
    assert weights is not None
    assert torch.equal(weights, torch.tensor([float(line.split()[2]) for line in lines]))
    assert read_edges(path, weights=False).weights is None


def test_headers(tmp_path: Path) -> None:
    path = write(tmp_path, "Source Target Weight", "a b 0.5", "b c 1")
    edges = read_edges(path)
    assert edges.names == ("a", "b", "c")
    assert len(edges.notes) == 2
    assert len(read_edges(path, header=True, weights=True).ends) == 2
    assert "Source" in read_edges(path, header=False).names
    assert read_edges(write(tmp_path, "x y", "a b")).names == ("a", "b", "x", "y")


def test_a_comment_is_told_all_forms(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"line 1: found 4 fields, wanted 2 .* or 3 .* there are no lines of comment"
    ):
        read_edges(write(tmp_path, "# made by hand", "a b"))
    with pytest.raises(DataError, match=r"found 4 fields, .* and a weight\), tab-separated\.$"):
        read_edges(write(tmp_path, "a r b 0.5"))


@pytest.mark.parametrize("weights", [("-0.5", "-1"), ("0.5", "0"), ("nan", "1"), ("0,5", "1")])
def test_numbers_that_are_no_weights_are_refused_as_weights(tmp_path: Path, weights: tuple[str, str]) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text(f"a\tb\t{weights[0]}\nb\tc\t{weights[1]}\n")
    with pytest.raises(DataError, match="the weight must be a "):
        read_edges(path)
