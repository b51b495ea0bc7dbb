"""How much more heat reaches a candidate from the known entity than from anywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from mohone.core import poisson
from mohone.core.errors import require_float, require_int, require_some
from mohone.core.parallel import Array
from mohone.evidence.dense_heat import DenseHeat, bytes_of_row, n_kept_rows
from mohone.evidence.expert import BlockAdder, Expert
from mohone.evidence.facts import Facts
from mohone.evidence.reasons import Heat as HeatReason
from mohone.evidence.reasons import Reason
from mohone.evidence.thin_heat import ThinHeat
from mohone.graph.network import Network

EPSILON = 1e-6  # A share of heat that is as good as none.
_TAIL = 2e-4  # Share of walks, the longest, that are taken as if they were a little shorter.
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
        flow = _network(facts), _chances(self.scales, self.first_walk), EPSILON
        if facts.n_entities > self.most_dense:
            self._heat: DenseHeat | ThinHeat = ThinHeat(*flow, self.thinnest)
        else:
            self._heat = DenseHeat(*flow, self.cache_bytes)

    def held_bytes(self, n_entities: int) -> int:
        """The rows that are kept."""
        if n_entities > self.most_dense:
            return 0
        sizes = n_entities, len(self.scales)
        return n_kept_rows(*sizes, self.cache_bytes) * bytes_of_row(*sizes)

    def add_to(self, scores: Tensor, known: Tensor, relation: Tensor, weights: Tensor) -> None:  # noqa: ARG002
        """Add the weighted values of all entities."""
        self._heat.add_to(scores, known, weights)

    def block_adder(self, known: Tensor, relation: Tensor, weights: Tensor) -> BlockAdder:  # noqa: ARG002
        """What `add_to` does, for one block of candidates after the other."""
        return self._heat.block_adder(known, weights)

    def at(self, known: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:  # noqa: ARG002
        """The values of candidates."""
        return self._heat.at(known, candidates)

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
