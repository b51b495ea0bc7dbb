"""Heat from one entity in a network whose rows are computed whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array, in_chunks
from mohone.evidence.expert import BlockAdder, adding
from mohone.graph.network import Network

_ROWS = 64  # Spread side by side: a line of as many numbers is read at once.
_MANY = 32  # Queries at once that are taken for a part of all.


def n_kept_rows(n_entities: int, n_scales: int, cache_bytes: int) -> int:
    """How many rows there is room for."""
    return min(n_entities, cache_bytes // max(1, bytes_of_row(n_entities, n_scales)))


def bytes_of_row(n_entities: int, n_scales: int) -> int:
    """What a row takes in float16."""
    return 2 * n_entities * n_scales


class DenseHeat:
    """Rows of values, kept in float16; those there is no room for are computed again, to the same numbers.

    Args:
        network: where heat flows.
        chances: `(n_scales, n_steps + 1)` float32: how likely heat takes a walk of 0, 1, 2, ... steps.
        epsilon: a share of heat that is as good as none.
        cache_bytes: memory for rows that are kept.
    """

    def __init__(self, network: Network, chances: Array, epsilon: float, cache_bytes: int) -> None:
        degrees = network.degrees.double()
        share = degrees / degrees.sum().clamp(min=1)
        self._general = (share + epsilon).log().float()
        self._degrees = degrees.numpy()
        walkable = network.walkable
        self._edges = walkable.starts, walkable.target
        self._chances, self._epsilon = chances, epsilon
        n, n_scales = len(degrees), len(chances)
        self._n_kept = 0
        self._place = torch.full((n,), -1)
        most = n_kept_rows(n, n_scales, cache_bytes)
        # Memory is only taken when rows are written.
        self._kept = torch.empty(most, n_scales, n, dtype=torch.float16)

    def add_to(self, scores: Tensor, known: Tensor, weights: Tensor) -> None:
        """Add the weighted values of all entities, some rows at a time."""
        for asked, rows, place in self._rows(known):
            arrays = rows.view(torch.int16), place, weights[asked], asked, scores
            _add_on_all_threads(*(array.numpy() for array in arrays))

    def block_adder(self, known: Tensor, weights: Tensor) -> BlockAdder:
        """The same for one block of candidates after the other."""
        return adding(partial(self.at, known), weights)

    def at(self, known: Tensor, candidates: Tensor) -> Tensor:
        """The values of candidates `(batch, k)`: `(batch, k, n_scales)` float32."""
        n_scales, n_entities = self._kept.shape[1:]
        out = torch.empty(*candidates.shape, n_scales)
        step = max(1, (1 << 20) // max(1, n_entities))
        for asked, rows, place in self._rows(known):
            for some, where in zip(asked.split(step), place.split(step), strict=True):
                places = candidates[some, None, :].expand(-1, n_scales, -1)
                out[some] = rows[where].gather(2, places).transpose(1, 2).float()
        return out

    def _rows(self, known: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Some of the queries, rows of values `(n, n_scales, n_entities)` float16, and which are whose."""
        self._keep(known)
        place = self._place[known]
        asked = (place >= 0).nonzero().flatten()
        yield asked, self._kept, place[asked]
        asked = (place < 0).nonzero().flatten()
        for some in asked.split(4 * _ROWS * torch.get_num_threads()):
            others, where = known[some].unique(return_inverse=True)
            yield some, self._compute(others), where

    def _keep(self, known: Tensor) -> None:
        """Compute the rows that are not kept, as many as there is room for."""
        missing = known[self._place[known] < 0].unique()[: len(self._kept) - self._n_kept]
        if len(missing) % _ROWS > 0 and len(known) >= _MANY:
            missing = self._filled_up(missing)
        for some in missing.split(4 * _ROWS * torch.get_num_threads()):
            places = slice(self._n_kept, self._n_kept + len(some))
            self._kept[places] = self._compute(some)
            self._place[some] = torch.arange(places.start, places.stop)
            self._n_kept = places.stop

    def _filled_up(self, missing: Tensor) -> Tensor:
        """With others that are not kept: so many queries are part of more, and a few rows cost what 64 do."""
        place = self._place.clone()
        place[missing] = 0
        room = len(self._kept) - self._n_kept - len(missing)
        others = (place < 0).nonzero().flatten()[: min(room, -len(missing) % _ROWS)]
        return torch.cat([missing, others])

    def _compute(self, nodes: Tensor) -> Tensor:
        """The values of some rows: `(len(nodes), n_scales, n_entities)` float16."""
        heat = np.empty((len(nodes), *self._kept.shape[1:]), np.float32)
        of_rows = nodes.numpy()

        def loop(start: int, stop: int) -> None:
            for first in range(start, stop, _ROWS):
                last = min(stop, first + _ROWS)
                _spread(*self._edges, self._degrees, self._chances, of_rows, first, last, heat)

        in_chunks(loop, len(nodes), least=16)
        values = torch.from_numpy(heat).add_(self._epsilon).log_().sub_(self._general)
        values[torch.from_numpy(self._degrees[of_rows] == 0)] = 0.0
        return values.half()


def _add_on_all_threads(bits: Array, place: Array, weights: Array, of_scores: Array, scores: Array) -> None:
    """Add the rows `place` of float16, given as int16, by their weights to the rows `of_scores` of scores."""
    in_chunks(
        lambda start, stop: _add_rows(bits, place, weights, of_scores, start, stop, scores),
        len(place),
        least=8,
    )


@njit(cache=True, nogil=True)
def _add_rows(
    bits: Array, place: Array, weights: Array, of_scores: Array, start: int, stop: int, scores: Array
) -> None:
    # A float32 with the bits of a float16 in its middle is 2^112 times too small, and exactly that.
    unit = np.float32(2.0**112)
    for i in range(start, stop):
        out = scores[of_scores[i]]
        for scale in range(bits.shape[1]):
            row, weight = bits[place[i], scale], weights[i, scale] * unit
            for j in range(len(row)):
                half = np.int32(row[j])
                size = np.int32(np.int32(half & np.int32(0x7FFF)) << np.int32(13))
                sign = np.int32(np.int32(half & np.int32(-0x8000)) << np.int32(16))
                out[j] += weight * np.int32(size | sign).view(np.float32)


@njit(cache=True, nogil=True)
def _spread(
    starts: Array,
    target: Array,
    degrees: Array,
    chances: Array,
    nodes: Array,
    start: int,
    stop: int,
    out: Array,
) -> Any:
    """Let heat flow from the nodes `start` to `stop`, a column each, and write it to their rows of `out`."""
    n, n_scales, width = len(starts) - 1, len(chances), stop - start
    now, after = np.zeros((n, width), np.float32), np.zeros((n, width), np.float32)
    total = np.zeros((n_scales, n, width), np.float32)
    for i in range(start, stop):
        node = nodes[i]
        for scale in range(n_scales):
            total[scale, node, i - start] = chances[scale, 0]
        now[node, i - start] = 1.0 / degrees[node] if degrees[node] > 0 else 0.0
    for step in range(1, chances.shape[1]):
        for node in range(n):
            if starts[node] == starts[node + 1]:
                continue
            here = after[node]
            _sum_rows(now, target[starts[node] : starts[node + 1]], here)
            for scale in range(n_scales):
                chance, sums = chances[scale, step], total[scale, node]
                if chance > 0.0:
                    for j in range(width):
                        sums[j] += chance * here[j]
            portion = np.float32(1.0 / degrees[node])
            for j in range(width):
                here[j] *= portion  # What it gives to each neighbour.
        now, after = after, now
    for scale in range(n_scales):
        for node in range(n):
            for i in range(start, stop):
                out[i, scale, node] = total[scale, node, i - start]


@njit(cache=True, nogil=True)
def _sum_rows(table: Array, rows: Array, out: Array) -> None:
    """The sum of some rows of a table, four at a time: as fast as memory gives them."""
    out[:] = 0.0
    whole = len(rows) // 4 * 4
    for at in range(0, whole, 4):
        a, b, c, d = table[rows[at]], table[rows[at + 1]], table[rows[at + 2]], table[rows[at + 3]]
        for j in range(len(out)):
            out[j] += (a[j] + b[j]) + (c[j] + d[j])
    for at in range(whole, len(rows)):
        a = table[rows[at]]
        for j in range(len(out)):
            out[j] += a[j]
