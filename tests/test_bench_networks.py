"""The networks' benchmark: its graphs, its judgements, and a small run through its command line."""

import json
from pathlib import Path

import pytest
import torch

from bench.networks import cli, graphs, quality
from mohone.graph.heat_kernel import HeatKernel
from tests.helpers.graphs import network_of


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
    assert quality.auc(vectors, split) == pytest.approx(sum(wins) / len(wins))


def test_overlap_and_labels() -> None:
    network, label = graphs.planted_partition(4, 20)
    one_hot = torch.nn.functional.one_hot(label).float() + 0.01 * torch.randn(80, 4)
    assert quality.label_accuracy(one_hot, label) == 1.0
    rows = HeatKernel(network, 5.0).rows(torch.arange(80))
    assert quality.overlap(torch.randn(80, 3), network) < 0.5
    # The products of these vectors are the kernel's symmetric part, but for the diagonal.
    values, vectors = torch.linalg.eigh(torch.eye(80) + (rows + rows.T) / 2)
    assert quality.overlap(vectors * values.sqrt(), network) > 0.8


def test_the_command_line_leaves_figures_and_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = cli._plan
    monkeypatch.setattr(
        cli, "_plan", lambda chosen: [s for s in real(chosen) if s["kind"] == "network_growth"]
    )
    arguments = ["--data-dir", str(tmp_path), "--out", str(tmp_path), "--threads", "1", "--sizes", "500"]
    assert cli.main(arguments) == 0
    (record,) = json.loads((tmp_path / "networks.json").read_text())["measurements"]
    assert record["result"]["n_nodes"] == 500
    assert record["result"]["epochs"] == 1
    assert "| 500 " in (tmp_path / "networks.md").read_text()


def test_the_plan_covers_what_is_promised(tmp_path: Path) -> None:
    chosen = cli._parser().parse_args(["--data-dir", str(tmp_path), "--peer-python", "python", "--wn18rr"])
    names = [spec["name"] for spec in cli._plan(chosen)]
    assert len(names) == len(set(names))
    assert {"fb15k-237, shnb, sampled", "wn18rr, struct, exact", "fb15k-237, PecanPy + gensim"} < set(names)
    assert "power law, 5,000,000 nodes" in names
