"""The networks' benchmark: its graphs, its judgements, and small measurements."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import child, embeddings, graphs, networks, processes
from mohone.graph.heat_kernel import HeatKernel
from tests.helpers.graphs import network_of

DATA = Path(__file__).resolve().parents[2] / "mohone/data"


def test_held_out_edges_are_edges_and_the_others_are_none() -> None:
    network = graphs.planted_partition()[0]
    split = graphs.split_edges(network, 0.2)
    edges = set(zip(network.source.tolist(), network.target.tolist(), strict=True))
    kept = set(zip(split.network.source.tolist(), split.network.target.tolist(), strict=True))
    held_out = {tuple(pair) for pair in split.held_out.tolist()}
    assert len(held_out) == int(0.2 * network.n_edges) == len(split.non_edges)
    assert held_out < edges
    assert not held_out & kept
    assert len(kept) == 2 * (network.n_edges - len(held_out))
    assert not {tuple(pair) for pair in split.non_edges.tolist()} & edges


def test_a_power_law_has_hubs() -> None:
    network = graphs.power_law(3000, 12_000)
    assert 0.95 * 12_000 < network.n_edges <= 12_000
    assert int(network.degrees.max()) > 20 * float(network.degrees.double().mean())


def test_auc_by_a_loop() -> None:
    torch.manual_seed(0)
    vectors = torch.randn(30, 4)
    split = graphs.Split(network_of(30), torch.randint(30, (20, 2)), torch.randint(30, (25, 2)))
    likeness = [
        [float(torch.cosine_similarity(vectors[a], vectors[b], dim=0)) for a, b in pairs.tolist()]
        for pairs in (split.held_out, split.non_edges)
    ]
    wins = [(x > y) + (x == y) / 2 for x in likeness[0] for y in likeness[1]]
    assert embeddings.auc(vectors, split) == pytest.approx(sum(wins) / len(wins))


def test_overlap_and_labels() -> None:
    torch.manual_seed(0)
    network, label = graphs.planted_partition()
    one_hot = torch.nn.functional.one_hot(label).float() + 0.01 * torch.randn(len(label), 8)
    assert embeddings.label_accuracy(one_hot, label) == 1.0
    assert embeddings.overlap(torch.randn(len(label), 3), network) < 0.5
    # The products of these vectors are the kernel's symmetric part, but for the diagonal.
    rows = HeatKernel(network, 5.0).rows(torch.arange(len(label)))
    values, vectors = torch.linalg.eigh(torch.eye(len(label)) + (rows + rows.T) / 2)
    assert embeddings.overlap(vectors * values.sqrt(), network) > 0.8


def test_the_kernels_agree() -> None:
    result = embeddings.kernel({"data_dir": str(DATA), "graph": "umls", "n_columns": 4})
    assert result["largest_difference"] < 1e-5
    assert min(result["seconds"], result["peer_seconds"]) > 0


def test_the_command_line_leaves_figures_and_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of its measurements, made small, in this process: its imports are there already."""

    def here(spec: dict[str, Any]) -> dict[str, Any]:
        small = {"graph": "umls", "settings": ["netemb.min_epochs=1", "netemb.min_steps=20", "dim=8"]}
        result = child.measure({**spec, **small} if "graph" in spec else {**spec, "n_nodes": 500})
        return {"name": spec["name"], "kind": spec["kind"], "result": result}

    monkeypatch.setattr(processes, "run_measurement", here)
    arguments = ["--data-dir", str(DATA), "--out", str(tmp_path), "--threads", "1", "--only"]
    assert networks.main([*arguments, "fb15k-237, shnb, exact", "100,000"]) == 0
    embedded, grown = json.loads((tmp_path / "networks.json").read_text())["measurements"]
    assert embedded["result"]["seconds"] > 0
    assert 0.5 < embedded["result"]["auc"] <= 1
    assert (grown["result"]["n_nodes"], grown["result"]["epochs"]) == (500, 1)
    page = (tmp_path / "networks.md").read_text()
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == [
        "Time and quality",
        "Growth",
    ]
    assert "| fb15k-237, shnb, exact |" in page
    assert "| 500 " in page


def test_the_plan_covers_what_is_promised() -> None:
    names = [spec["name"] for spec in networks.plan(Path("python"))]
    assert len(names) == len(set(names))
    assert {"fb15k-237, shnb, sampled", "wn18rr, struct, exact", "fb15k-237, PecanPy + gensim"} < set(names)
    assert "power law, 5,000,000 nodes" in names
