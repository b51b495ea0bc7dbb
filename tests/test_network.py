from pathlib import Path

import pytest
import torch

from mohone.core.named_vectors import read_vectors
from mohone.network import main

TINY = ["dim=4", "netemb.min_epochs=1", "netemb.min_steps=20", "progress=false"]


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.tsv"
    path.write_text("b\ta\nb\tc\n01\t1\nc\tA b\nlonely\tlonely\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("netemb", ["shnb", "struct", "node2vec", "deepwalk"])
@pytest.mark.parametrize("objective", ["exact", "sampled"])
def test_edges_become_vectors_with_names(edges: Path, tmp_path: Path, netemb: str, objective: str) -> None:
    settings = [f"netemb={netemb}", f"netemb.objective={objective}", *TINY]
    out = tmp_path / "out.npz"
    assert main([str(edges), "--export", str(out), *settings]) == 0
    names, vectors = read_vectors(out)
    assert names == ["01", "1", "A b", "a", "b", "c", "lonely"]
    assert vectors.shape == (7, 4)
    assert torch.isfinite(vectors).all()
    assert main([str(edges), "--export", str(tmp_path / "again.safetensors"), *settings]) == 0
    assert torch.equal(read_vectors(tmp_path / "again.safetensors")[1], vectors)


def test_triples_and_the_order_of_lines_give_the_same(edges: Path, tmp_path: Path) -> None:
    lines = edges.read_text(encoding="utf-8").splitlines()
    other = tmp_path / "triples.csv"
    other.write_text("".join(line.replace("\t", ",r,") + "\n" for line in reversed(lines)), encoding="utf-8")
    for path, delimiter in ((edges, "\t"), (other, ",")):
        out = str(tmp_path / f"{path.stem}.npz")
        assert main([str(path), "--export", out, "--delimiter", delimiter, "netemb=shnb", *TINY]) == 0
    one, two = (read_vectors(tmp_path / name) for name in ("edges.npz", "triples.npz"))
    assert one[0] == two[0]
    assert torch.equal(one[1], two[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--export", "o.csv"],
            "The ending of o.csv must be one of .npz, .safetensors, .txt, but is '.csv'.",
        ),
        (["--export", "o.npz", "netemb=none"], "`netemb` must be a network embedding, but is none."),
        (
            ["--export", "o.npz", "netemb=nosuch"],
            "`netemb` must be one of deepwalk, node2vec, none, shnb, struct, but is 'nosuch'.",
        ),
        (["--export", "o.npz", "netemb.dimm=3"], "dimm"),
        (["--export", "o.npz", "netemb.scale=[]"], "`netemb.scale` must have a value, but is empty."),
        (
            ["--export", "o.npz", "graph.weighting=sum"],
            "`network.weighting` must be one of binary, count, weight",
        ),
        (["--export", "o.npz", "kge_model=complex"], "`kge_model` must be left out, for a network embedding"),
        (["--export", "o.npz", "infusion.beta=0.3"], "`infusion` must be left out, for a network embedding"),
        (["--export", "o.npz", "sparse=scipy"], "`sparse` must be one of torch, torch_sparse"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    edges: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(edges), *arguments]) == 1
    assert message in capsys.readouterr().err


def test_bad_files_are_refused_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, message in (
        ("a\tb\nc\n", "line 2: found 1 field, wanted 2 (one node, other node, tab-separated)."),
        ("a\tr\tb\nc\td\n", "line 2: found 2 fields, wanted 3 (head, relation, tail, tab-separated)."),
        (
            "# nodes\na\tb\n",
            "line 1: found 1 field, wanted 2 (one node, other node) or 3 (head, relation, tail, or two nodes "
            "and a weight), tab-separated; there are no lines of comment.",
        ),
        ("a\t\n", "line 1: the other node must be a name, but is empty."),
        ("", "must hold edges, but is empty."),
    ):
        (tmp_path / "bad.tsv").write_text(text)
        assert main([str(tmp_path / "bad.tsv"), "--export", str(tmp_path / "o.npz"), "netemb=shnb"]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "o.npz").exists()
