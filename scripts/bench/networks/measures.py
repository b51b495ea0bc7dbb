"""What is measured, each in a process of its own: `bench.child` calls these."""

from __future__ import annotations

import json
import logging
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mohone.experiment.networks import NetworkPlan
from scipy import sparse
from scipy.sparse.linalg import expm_multiply
from torch import Tensor

from bench.child import peak_mb
from bench.networks import graphs, quality
from mohone.core.config import compose_plain
from mohone.experiment.trainers import TrainerFactory, quiet_lightning
from mohone.graph.barbell import DOOR, INSIDE, barbell
from mohone.graph.heat_kernel import HeatKernel
from mohone.graph.network import Network

_HELD_OUT = 0.1
_PEER = Path(__file__).with_name("peer_node2vec.py")


def embed(spec: dict[str, Any]) -> dict[str, Any]:
    """Ours on nine tenths of a benchmark graph's edges: time, peak memory, quality."""
    split = graphs.split_edges(graphs.benchmark_graph(spec["data_dir"], spec["graph"]), _HELD_OUT)
    vectors, figures = _learn(split.network, spec)
    return {**figures, **_judge(vectors, split)}


def peer(spec: dict[str, Any]) -> dict[str, Any]:
    """PecanPy's walks and gensim's word2vec on the same edges, in their own environment."""
    split = graphs.split_edges(graphs.benchmark_graph(spec["data_dir"], spec["graph"]), _HELD_OUT)
    with tempfile.TemporaryDirectory() as folder:
        edges, out = Path(folder) / "edges.tsv", Path(folder) / "vectors.npz"
        np.savetxt(edges, graphs.edges_of(split.network).numpy(), "%d", "\t")
        ran = subprocess.run(
            [spec["peer_python"], str(_PEER), str(edges), str(out), str(spec["threads"])],
            capture_output=True,
            text=True,
            check=True,
        )
        figures: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
        with np.load(out) as arrays:
            vectors = torch.randn(split.network.n_nodes, arrays["vectors"].shape[1])
            vectors[torch.from_numpy(arrays["nodes"])] = torch.from_numpy(arrays["vectors"])
    return {**figures, **_judge(vectors, split)}


def kernel(spec: dict[str, Any]) -> dict[str, Any]:
    """A block of the heat kernel by ours and, as GraphWave has it, by scipy's expm_multiply in float64."""
    network = graphs.benchmark_graph(spec["data_dir"], spec["graph"])
    nodes = torch.arange(spec["n_columns"])
    ours = HeatKernel(network, 5.0)
    ours.rows(nodes)
    start = time.perf_counter()
    rows = ours.rows(nodes)
    seconds = time.perf_counter() - start
    weight = (1.0 / network.degrees[network.source]).double().numpy()
    walk = sparse.csr_matrix((weight, (network.source, network.target)), shape=(network.n_nodes,) * 2)
    laplacian = sparse.diags((~network.isolated).double().numpy()) - walk.T
    block = np.zeros((network.n_nodes, len(nodes)))
    block[nodes, np.arange(len(nodes))] = 1.0
    start = time.perf_counter()
    theirs = expm_multiply(-5.0 * laplacian, block).T
    peer_seconds = time.perf_counter() - start
    return {
        "n_columns": len(nodes),
        "seconds": seconds,
        "peer_seconds": peer_seconds,
        "largest_difference": float(np.abs(theirs - rows.numpy()).max()),
    }


def roles(spec: dict[str, Any]) -> dict[str, Any]:
    """Labels found on the bar-bell (roles; bells) and on a planted partition (communities)."""
    two_bells, of_role = barbell()
    partition, of_group = graphs.planted_partition()
    vectors, _ = _learn(two_bells, {**spec, "settings": [*spec["settings"], "dim=16"]})
    communities, _ = _learn(partition, {**spec, "settings": [*spec["settings"], "dim=32"]})
    is_right = (torch.arange(len(of_role)) >= len(of_role) // 2).long()
    inside, at_bell = of_role == INSIDE, of_role <= DOOR
    return {
        "roles": quality.label_accuracy(vectors[at_bell], of_role[at_bell]),
        "all_roles": quality.label_accuracy(vectors, of_role),
        "bells": quality.label_accuracy(vectors[inside], is_right[inside]),
        "communities": quality.label_accuracy(communities, of_group),
    }


def growth(spec: dict[str, Any]) -> dict[str, Any]:
    """One pass over all nodes of a power-law graph, sampled."""
    start = time.perf_counter()
    network = graphs.power_law(spec["n_nodes"], spec["n_edges"])
    made = time.perf_counter() - start
    once = ["netemb.objective=sampled", "netemb.min_epochs=1", "netemb.min_steps=1"]
    _learn(barbell()[0], {**spec, "settings": once})  # So that nothing is compiled in the measurement.
    _, figures = _learn(network, {**spec, "settings": [*spec["settings"], *once]})
    return {
        "n_nodes": network.n_nodes,
        "n_edges": network.n_edges,
        "graph_seconds": made,
        "largest_degree": int(network.degrees.max()),
        **figures,
    }


def _learn(network: Network, spec: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
    config = compose_plain([f"netemb={spec['netemb']}", *spec["settings"]])
    plan = NetworkPlan(config)
    quiet_lightning()
    logging.getLogger("mohone").setLevel(logging.ERROR)
    torch.manual_seed(0)
    start = time.perf_counter()
    vectors, info = plan.learn(network, TrainerFactory(config["trainer"], Path()), seed=0)
    seconds = time.perf_counter() - start
    n_asking = network.n_nodes - info["n_isolated"]
    n_pairs = len(info["history"]) * n_asking * plan.settings.n_draws
    return vectors, {
        "seconds": seconds,
        "peak_learn_mb": peak_mb(),
        "epochs": len(info["history"]),
        "loss": info["loss"],
        "pairs_per_second": n_pairs / seconds if info["objective"] == "sampled" else None,
    }


def _judge(vectors: Tensor, split: graphs.Split) -> dict[str, Any]:
    return {"auc": quality.auc(vectors, split), "overlap": quality.overlap(vectors, split.network)}
