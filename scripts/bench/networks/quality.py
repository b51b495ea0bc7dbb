"""How good an embedding is: found edges, neighbours and labels."""

from __future__ import annotations

import torch
from scipy.stats import rankdata
from torch import Tensor
from torch.nn import functional as F

from bench.networks.graphs import Split
from mohone.core.nearest import nearest_neighbors
from mohone.graph.heat_kernel import HeatKernel
from mohone.graph.network import Network

_N_ASKED = 1000
_N_NEAREST = 10
_SCALE = 5.0


def auc(vectors: Tensor, split: Split) -> float:
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
