"""How much more heat reaches a candidate from the known entity than from anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core import poisson
from mohone.core.errors import require_float, require_int, require_some
from mohone.core.parallel import Array, in_chunks
from mohone.evidence.expert import BlockAdder, Expert, arrays_of
from mohone.evidence.facts import Facts
from mohone.evidence.reasons import Heat as HeatReason
from mohone.evidence.reasons import Reason
from mohone.evidence.thin_heat import Flow, Followed, add_spread, degree_classes, follow, heat_at, spread_of
from mohone.graph.network import Network

EPSILON = 1e-6  # A share of heat that is as good as none.
_TAIL = 2e-4  # Share of walks, the longest, that are taken as if they were a little shorter.
_ROWS = 64  # Spread side by side: a line of as many numbers is read at once.
_MANY = 32  # Queries at once that are taken for a part of all.
_CACHE_BYTES = 1 << 30
MOST_DENSE = 50_000  # Entities up to which whole rows are computed.
_THINNEST = 1e-5


class Heat(Expert):
    """`log(Psi_s(h, t) + e) - log(share of t in all degrees + e)` at several scales s, e = 1e-6.

    `Psi_s = sum over k >= first_walk of e^-s s^k / k! P^k`, the heat kernel of the network of training
    triples by its random walks P, from `first_walk` steps on. All scales share the powers of P, and all
    terms are positive; the longest walks, one in 5,000, are taken as if they were a little shorter. An
    isolated entity's values are 0. By default walks of 0 and 1 steps are left out: on FB15k-237 they know
    how the data set was drawn (see `Linked`); of longer walks some pass the query's own triple.

    Values are kept in float16, as many rows as `cache_bytes` hold; the others are computed again when they
    are asked for, to the same numbers. Beyond `most_dense` entities no rows are: heat is followed from each
    known entity while a neighbour gets at least `thinnest` of it (see `thin_heat`).

    Args:
        scales: the times heat flows, each > 0.
        first_walk: steps of the shortest walks that count, 0 to 2.
        cache_bytes: memory for rows of values.
        most_dense: entities up to which values are exact.
        thinnest: the least share of heat that is followed beyond that.
    """

    def __init__(
        self,
        scales: Sequence[float] = (1.0, 5.0),
        first_walk: int = 2,
        cache_bytes: int = _CACHE_BYTES,
        most_dense: int = MOST_DENSE,
        thinnest: float = _THINNEST,
    ) -> None:
        super().__init__()
        each = require_some("scales", scales)
        self.scales = tuple(require_float("scales", scale, strict=True) for scale in each)
        self.first_walk = require_int("first_walk", first_walk, 0, 2)
        self.cache_bytes = require_int("cache_bytes", cache_bytes, 0)
        self.most_dense = require_int("most_dense", most_dense, 0)
        self.thinnest = require_float("thinnest", thinnest)
        self.values = tuple(f"heat_{scale:g}" for scale in self.scales)

    def attach(self, facts: Facts) -> None:
        """Give the facts whose network heat flows in."""
        super().attach(facts)
        network = _network(facts)
        chances = _chances(self.scales, self.first_walk)
        self._thin: Flow | None = None
        self._latest: tuple[Array, Followed] | None = None
        if facts.n_entities > self.most_dense:
            self._thin = Flow(*network.walkable[:2], chances, self.thinnest, EPSILON)
            self._classes = degree_classes(self._thin)
            return
        degrees = network.degrees.double()
        share = degrees / degrees.sum().clamp(min=1)
        self._general = (share + EPSILON).log().float()
        self._degrees = degrees.numpy()
        walkable = network.walkable
        self._edges = walkable.starts, walkable.target
        self._chances = chances
        n = facts.n_entities
        self._n_kept = 0
        self._place = torch.full((n,), -1)
        most = min(n, self.cache_bytes // max(1, 2 * n * len(self.scales)))
        # Memory is only taken when rows are written.
        self._kept = torch.empty(most, len(self.scales), n, dtype=torch.float16)

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
        heat = np.empty((len(nodes), len(self.scales), self.facts.n_entities), np.float32)
        of_rows = nodes.numpy()

        def loop(start: int, stop: int) -> None:
            for first in range(start, stop, _ROWS):
                last = min(stop, first + _ROWS)
                _spread(*self._edges, self._degrees, self._chances, of_rows, first, last, heat)

        in_chunks(loop, len(nodes), least=16)
        values = torch.from_numpy(heat).add_(EPSILON).log_().sub_(self._general)
        values[torch.from_numpy(self._degrees[of_rows] == 0)] = 0.0
        return values.half()

    def add_to(self, scores: Tensor, known: Tensor, relation: Tensor, weights: Tensor) -> None:
        """Add the weighted values of all entities, some rows at a time."""
        if self._thin is not None:
            self.block_adder(known, relation, weights)(scores, torch.arange(scores.shape[1]))
            return
        for asked, rows, place in self._rows(known):
            arrays = rows.view(torch.int16), place, weights[asked], asked, scores
            _add_on_all_threads(*(array.numpy() for array in arrays))

    def block_adder(self, known: Tensor, relation: Tensor, weights: Tensor) -> BlockAdder:
        """Beyond `most_dense`: what degrees tell of all, and what differs from it where heat was followed."""
        if self._thin is None:
            return super().block_adder(known, relation, weights)
        spread = spread_of(self._thin, self._classes, *self._follow(self._thin, known), *arrays_of(weights))
        return lambda scores, candidates: add_spread(spread, candidates.numpy(), scores.numpy())

    def at(self, known: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:  # noqa: ARG002
        """The values of candidates."""
        if self._thin is not None:
            followed = self._follow(self._thin, known)
            return torch.from_numpy(heat_at(self._thin, *followed, *arrays_of(candidates)))
        out = torch.empty(*candidates.shape, len(self.scales))
        step = max(1, (1 << 20) // max(1, self.facts.n_entities))
        for asked, rows, place in self._rows(known):
            for some, where in zip(asked.split(step), place.split(step), strict=True):
                places = candidates[some, None, :].expand(-1, len(self.scales), -1)
                out[some] = rows[where].gather(2, places).transpose(1, 2).float()
        return out

    def _follow(self, flow: Flow, known: Tensor) -> tuple[Followed, Array]:
        """Heat from the distinct ones of the entities, and which of these each is; the latest is kept."""
        each, place = np.unique(known.numpy(), return_inverse=True)
        if self._latest is None or not np.array_equal(self._latest[0], each):
            self._latest = each, follow(flow, each)
        return self._latest[1], place

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """How many times more heat there is than one expects, where it is more."""
        query = torch.tensor([known]), torch.tensor([relation]), torch.tensor([[candidate]])
        values = self.at(*query)[0, 0].tolist()
        return [
            HeatReason(scale, math.exp(value))
            for scale, value in zip(self.scales, values, strict=True)
            if value > 0
        ]


def _network(facts: Facts) -> Network:
    forward = facts.relation < facts.n_relations  # The others are the same edges from the other end.
    head = np.repeat(np.arange(facts.n_entities), np.diff(facts.starts))[forward]
    target = torch.from_numpy(facts.target[forward].astype(np.int64))
    return Network.from_edges(torch.from_numpy(head), target, facts.n_entities)


def _chances(scales: Sequence[float], first_walk: int) -> Array:
    """How likely heat takes a walk of 0, 1, 2, ... steps: `(n_scales, n_steps + 1)` float32."""
    longest = max(first_walk + 1, *(poisson.longest(_TAIL, scale) for scale in scales))
    steps = np.arange(longest + 1)
    out = np.stack([poisson.chances(steps, scale) for scale in scales])
    out[:, -1] += [poisson.chance_of_more(longest, scale) for scale in scales]
    out[:, :first_walk] = 0.0
    return out.astype(np.float32)


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
