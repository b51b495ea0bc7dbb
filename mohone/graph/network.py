"""The knowledge graph as an undirected graph of its entities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mohone.core.errors import require_choice

WEIGHTINGS = ("binary", "count")


@dataclass(frozen=True)
class Network:
    """An undirected graph without self loops, each edge stored in both directions.

    Attributes:
        source, target: `(2 * n_edges,)`, sorted by source, then target; int64.
        weight: `(2 * n_edges,)` float64, > 0; None: all 1.

    Example:
        >>> triples = torch.tensor([[0, 5, 1], [1, 6, 0], [1, 5, 2], [2, 5, 2]])
        >>> network = Network.from_triples(triples, n_nodes=4)
        >>> network.n_edges, network.degrees.tolist(), network.isolated.tolist()
        (2, [1, 2, 1, 0], [False, False, False, True])
    """

    n_nodes: int
    source: Tensor
    target: Tensor
    weight: Tensor | None = None

    @classmethod
    def from_triples(cls, triples: Tensor, n_nodes: int, weighting: str = "binary") -> Network:
        """Forget relations and directions of `(n, 3)` triples (the paper, section 3.3)."""
        return cls.from_edges(triples[:, 0], triples[:, 2], n_nodes, weighting)

    @classmethod
    def from_edges(
        cls,
        head: Tensor,
        tail: Tensor,
        n_nodes: int,
        weighting: str = "binary",
        weights: Tensor | None = None,
    ) -> Network:
        """Forget the directions of edges; self loops are left out.

        Args:
            head, tail: `(n,)` int64 node numbers.
            n_nodes: numbers lie in `[0, n_nodes)`.
            weighting: `binary`: two nodes are linked or not; `count`: by how many of the edges, in
                whatever direction.
            weights: `(n,)` > 0 of the edges; two nodes are linked by the sum of theirs, whatever `weighting`.

        Raises:
            ConfigError: another weighting.
        """
        require_choice("graph.weighting", weighting, WEIGHTINGS)
        proper = head != tail
        head, tail = head[proper], tail[proper]
        codes = torch.cat([head * n_nodes + tail, tail * n_nodes + head])
        counts: Tensor | None = None
        if weights is not None:
            codes, place = torch.unique(codes, return_inverse=True)
            both = weights[proper].double().repeat(2)
            counts = torch.zeros(len(codes), dtype=torch.float64).index_add_(0, place, both)
        elif weighting == "binary":
            codes = torch.unique(codes)
        else:
            codes, counts = torch.unique(codes, return_counts=True)
        return cls(
            n_nodes,
            torch.div(codes, max(1, n_nodes), rounding_mode="floor"),
            codes % max(1, n_nodes),
            None if counts is None else counts.double(),
        )

    @property
    def n_edges(self) -> int:
        """Undirected edges, each counted once."""
        return len(self.source) // 2

    @cached_property
    def degrees(self) -> Tensor:
        """Neighbours of each node: `(n_nodes,)`."""
        return torch.bincount(self.source, minlength=self.n_nodes)

    @cached_property
    def strengths(self) -> Tensor:
        """The weights of each node's edges together: `(n_nodes,)` float64."""
        if self.weight is None:
            return self.degrees.double()
        return torch.bincount(self.source, weights=self.weight, minlength=self.n_nodes)

    @cached_property
    def isolated(self) -> Tensor:
        """`(n_nodes,)` of bool: has it no neighbour?"""
        return self.degrees == 0

    @cached_property
    def connected(self) -> Tensor:
        """The nodes that have neighbours, ascending."""
        return (~self.isolated).nonzero().flatten()

    @cached_property
    def walkable(self) -> WalkableNetwork:
        """The same graph as arrays for compiled loops."""
        starts = np.zeros(self.n_nodes + 1, np.int64)
        np.cumsum(self.degrees.numpy(), out=starts[1:])
        cumulative = np.empty(0)
        if self.weight is not None:  # Running sums start anew at each node, so that they stay exact.
            total = np.concatenate([[0.0], np.cumsum(self.weight.numpy())])
            cumulative = total[1:] - total[starts[:-1]].repeat(self.degrees.numpy())
        return WalkableNetwork(starts, self.target.numpy().astype(np.int32), cumulative)


class WalkableNetwork(NamedTuple):
    """Rows of neighbours, a tuple because compiled loops take those.

    Attributes:
        starts: `(n_nodes + 1,)` int64: where each node's neighbours start in `target`.
        target: `(2 * n_edges,)` int32, ascending within a node.
        cumulative: `(2 * n_edges,)` float64 running sums of weights within a node; empty: all weigh 1.
    """

    starts: np.ndarray
    target: np.ndarray
    cumulative: np.ndarray
