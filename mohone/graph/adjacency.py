"""The knowledge graph as a plain undirected graph, and the one sparse-dense product of the product."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Graph:
    """A plain undirected graph: no weights, no self loops, each edge stored in both directions.

    Attributes:
        source, target: `(2 * n_edges,)`, sorted by source, then target.
    """

    n_nodes: int
    source: Tensor
    target: Tensor

    @classmethod
    def from_triples(cls, triples: Tensor, n_nodes: int) -> Graph:
        """Forget relations and directions of `(n, 3)` triples (the paper, section 3.3)."""
        head, tail = triples[:, 0], triples[:, 2]
        both = torch.cat([head * n_nodes + tail, tail * n_nodes + head])
        codes = torch.unique(both[torch.cat([head != tail, head != tail])])
        return cls(
            n_nodes,
            torch.div(codes, max(1, n_nodes), rounding_mode="floor"),
            codes % max(1, n_nodes),
        )

    @property
    def n_edges(self) -> int:
        """Undirected edges, each counted once."""
        return len(self.source) // 2

    @property
    def degrees(self) -> Tensor:
        """Neighbours of each node: `(n_nodes,)`."""
        return torch.bincount(self.source, minlength=self.n_nodes)

    @property
    def isolated(self) -> Tensor:
        """`(n_nodes,)` of bool: has it no neighbour?"""
        return self.degrees == 0


def csr_matrix(row: Tensor, column: Tensor, value: Tensor, n: int) -> Tensor:
    """A square float32 CSR matrix of triplets without repetitions (torch's fastest sparse form on a CPU)."""
    order = torch.argsort(row * n + column)
    starts = torch.cat([row.new_zeros(1), torch.bincount(row, minlength=n).cumsum(0)])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse (CSR tensor|invariant)")
        return torch.sparse_csr_tensor(
            starts.to(torch.int32), column[order].to(torch.int32), value[order].float(), (n, n)
        )


def spmm(matrix: Tensor, dense: Tensor) -> Tensor:
    """The product of a sparse CSR `(n, n)` and a dense `(n, k)` matrix."""
    return matrix @ dense
