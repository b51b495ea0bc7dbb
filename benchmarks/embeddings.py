"""Network embeddings: how long they take, how much memory, and how good they are; `child.py` calls these."""

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
from scipy import sparse
from scipy.sparse.linalg import expm_multiply
from scipy.stats import rankdata
from torch import Tensor
from torch.nn import functional as F

from benchmarks import graphs
from benchmarks.child import peak_mb
from mohone.configuration.compose import compose_plain
from mohone.core.config import build
from mohone.core.nearest import nearest_neighbors
from mohone.core.runtime import quiet_lightning
from mohone.experiment.trainers import TrainerFactory
from mohone.graph.barbell import DOOR, INSIDE, barbell
from mohone.graph.heat_kernel import HeatKernel
from mohone.graph.network import Network

_HELD_OUT = 0.1
_SCALE = 5.0
_N_ASKED, _N_NEAREST = 1000, 10
_PEER = Path(__file__).with_name("peer_node2vec.py")


def embed(spec: dict[str, Any]) -> dict[str, Any]:
    """Ours on nine tenths of a benchmark graph's edges: time, peak memory, quality."""
    split = _held_out(spec)
    vectors, figures = learn(split.network, spec["netemb"], *spec["settings"])
    return {**figures, **_judge(vectors, split)}


def peer(spec: dict[str, Any]) -> dict[str, Any]:
    """PecanPy's walks and gensim's word2vec on the same edges, in their own environment."""
    split = _held_out(spec)
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
    ours = HeatKernel(network, _SCALE)
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
    theirs = expm_multiply(-_SCALE * laplacian, block).T
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
    vectors, _ = learn(two_bells, spec["netemb"], "dim=16")
    communities, _ = learn(partition, spec["netemb"], "dim=32")
    is_right = (torch.arange(len(of_role)) >= len(of_role) // 2).long()
    inside, at_bell = of_role == INSIDE, of_role <= DOOR
    return {
        "roles": label_accuracy(vectors[at_bell], of_role[at_bell]),
        "all_roles": label_accuracy(vectors, of_role),
        "bells": label_accuracy(vectors[inside], is_right[inside]),
        "communities": label_accuracy(communities, of_group),
    }


def growth(spec: dict[str, Any]) -> dict[str, Any]:
    """One pass of `shnb` over all nodes of a power-law graph, sampled."""
    start = time.perf_counter()
    network = graphs.power_law(spec["n_nodes"], spec["n_edges"])
    made = time.perf_counter() - start
    once = ("netemb.objective=sampled", "netemb.min_epochs=1", "netemb.min_steps=1")
    learn(barbell()[0], "shnb", *once)  # So that nothing is compiled in the measurement.
    _, figures = learn(network, "shnb", *once)
    return {
        "n_nodes": network.n_nodes,
        "n_edges": network.n_edges,
        "graph_seconds": made,
        "largest_degree": int(network.degrees.max()),
        **figures,
    }


def learn(network: Network, netemb: str, *settings: str) -> tuple[Tensor, dict[str, Any]]:
    """The vectors by a network embedding with its usual settings but for these, and what it took."""
    config = compose_plain([f"netemb={netemb}", *settings])
    embedding = build("netemb", config["netemb"])
    quiet_lightning()
    logging.getLogger("mohone").setLevel(logging.ERROR)
    torch.manual_seed(0)
    start = time.perf_counter()
    vectors, info = embedding.fit(network, TrainerFactory(config["trainer"], Path()), seed=0)
    seconds = time.perf_counter() - start
    n_asking = network.n_nodes - info["n_isolated"]
    n_pairs = len(info["history"]) * n_asking * embedding.learner.n_draws
    return vectors, {
        "seconds": seconds,
        "peak_learn_mb": peak_mb(),
        "epochs": len(info["history"]),
        "loss": info["loss"],
        "pairs_per_second": n_pairs / seconds if info["objective"] == "sampled" else None,
    }


def _held_out(spec: dict[str, Any]) -> graphs.Split:
    return graphs.split_edges(graphs.benchmark_graph(spec["data_dir"], spec["graph"]), _HELD_OUT)


def _judge(vectors: Tensor, split: graphs.Split) -> dict[str, Any]:
    return {"auc": auc(vectors, split), "overlap": overlap(vectors, split.network)}


def auc(vectors: Tensor, split: graphs.Split) -> float:
    """The chance that a held-out edge has the larger cosine than a pair that is none."""
    table = F.normalize(vectors)
    likeness = [(table[x[:, 0]] * table[x[:, 1]]).sum(1) for x in (split.held_out, split.non_edges)]
    ranks = rankdata(torch.cat(likeness).numpy())
    n, m = (len(x) for x in likeness)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def overlap(vectors: Tensor, network: Network) -> float:
    """Of the ten nodes with most heat (scale 5) the share with the ten largest products, of 1,000 nodes."""
    nodes = network.connected
    nodes = nodes[:: max(1, len(nodes) // _N_ASKED)]
    heat = HeatKernel(network, _SCALE).rows(nodes)
    heat[torch.arange(len(nodes)), nodes] = -1.0
    warmest = heat.topk(_N_NEAREST, 1).indices
    products = vectors[nodes] @ vectors.T
    products[torch.arange(len(nodes)), nodes] = -torch.inf
    largest = products.topk(_N_NEAREST, 1).indices
    return float((warmest[:, :, None] == largest[:, None, :]).any(2).float().mean())


def label_accuracy(vectors: Tensor, labels: Tensor) -> float:
    """The share of nodes whose nearest node by cosine has the same label, of those that could."""
    nearest = nearest_neighbors(vectors, 1).rows[:, 0]
    possible = torch.bincount(labels - labels.min())[labels - labels.min()] > 1
    return float((labels[nearest] == labels)[possible].float().mean())
