"""How often nodes follow each other in walks, a block of rows at a time."""

from __future__ import annotations

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array, in_chunks


class Cooccurrence:
    """Counts of the nodes within a window around each visit of a node, on both sides.

    A node at distance k counts `window - k + 1`: as often as word2vec takes it, which draws the width of each
    window evenly from 1 to `window`.

    Args:
        walks: `(n_walks, length)` int32.
        n_nodes: node numbers lie below.
        window: the widest.
    """

    def __init__(self, walks: Tensor, n_nodes: int, window: int) -> None:
        self._walks, self.n_nodes, self.window = walks.numpy(), n_nodes, window
        visited = self._walks.reshape(-1)
        self._visits = np.argsort(visited, kind="stable")
        self._starts = np.zeros(n_nodes + 1, np.int64)
        np.cumsum(np.bincount(visited, minlength=n_nodes), out=self._starts[1:])

    def rows(self, nodes: Tensor) -> Tensor:
        """The counts around `nodes`: `(len(nodes), n_nodes)` float32, a node's own among them."""
        out = np.zeros((len(nodes), self.n_nodes), np.float32)
        of_rows = nodes.numpy()

        def loop(start: int, stop: int) -> None:
            _count(self._walks, self._visits, self._starts, of_rows, self.window, start, stop, out)

        in_chunks(loop, len(nodes), least=1)
        return torch.from_numpy(out)


@njit(cache=True, nogil=True)
def _count(
    walks: Array, visits: Array, starts: Array, nodes: Array, window: int, start: int, stop: int, out: Array
) -> None:
    length = walks.shape[1]
    for i in range(start, stop):
        for at in range(starts[nodes[i]], starts[nodes[i] + 1]):
            walk, place = divmod(visits[at], length)
            for other in range(max(0, place - window), min(length, place + window + 1)):
                if other != place:
                    out[i, walks[walk, other]] += window + 1 - abs(other - place)
