"""What the neighbours of the known entity answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array
from mohone.evidence.expert import SparseExpert
from mohone.evidence.facts import Facts, span
from mohone.evidence.found import Found, find, with_room
from mohone.evidence.neighbors import Neighbors
from mohone.evidence.reasons import Reason, Vote

SMALL = 0.1  # A share of votes that already says something.


class NeighborExpert(SparseExpert):
    """An expert that keeps the neighbours in network space."""

    needs_neighbors = True

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.empty(0, 0, dtype=torch.int32))
        self.register_buffer("weights", torch.empty(0, 0))
        self.rows: Tensor
        self.weights: Tensor

    def learn(self, facts: Facts, neighbors: Neighbors | None, seed: int) -> None:  # noqa: ARG002
        """Keep the neighbours; None: there are none."""
        none = Neighbors(
            torch.empty(facts.n_entities, 0, dtype=torch.int32), torch.empty(facts.n_entities, 0)
        )
        self.rows, self.weights = none if neighbors is None else neighbors


class Votes(NeighborExpert):
    """Network neighbours that have the answer.

    `a(t) = sum over h' in N(h) of w(h, h') [(h', r, t) in train]`, and the values are `log(1 + a(t) / 0.1)`
    and the same of `a(t) / A`, where `A` is the weight of those neighbours that have r at all. The weights of
    all neighbours sum to 1; h is none of its own.
    """

    values = ("votes", "votes_of_those_that_have")

    def found(self, known: Array, relation: Array) -> Found:
        """Both values of all that neighbours answer."""
        rows, weights = self.rows.numpy(), self.weights.numpy()
        return find(
            lambda start, stop: _votes(self.facts, rows, weights, known, relation, start, stop), len(known)
        )

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """The neighbours that have the answer."""
        out = [
            Vote(other, weight)
            for other, weight in zip(self.rows[known].tolist(), self.weights[known].tolist(), strict=True)
            if other >= 0 and other != known and weight > 0
            and candidate in self.facts.answers(other, relation)
        ]  # fmt: skip
        return [*sorted(out, key=lambda vote: -vote.weight)]


@njit(cache=True, nogil=True)
def _votes(
    facts: Facts, rows: Array, weights: Array, known: Array, relation: Array, start: int, stop: int
) -> Any:
    counts = np.zeros(stop - start, np.int64)
    entities, values = np.empty(1024, np.int32), np.empty((1024, 2), np.float32)
    total = np.zeros(len(facts.starts) - 1)
    size = 0
    for i in range(start, stop):
        first, having = size, 0.0
        for k in range(rows.shape[1]):
            other, weight = rows[known[i], k], weights[known[i], k]
            if other < 0 or other == known[i] or weight <= 0.0:
                continue
            low, high = span(facts, other, relation[i])
            if low < high:
                having += weight
            entities, values = with_room(entities, values, size + high - low)
            for at in range(low, high):
                answer = facts.target[at]
                if total[answer] == 0.0:
                    entities[size] = answer
                    size += 1
                total[answer] += weight
        for at in range(first, size):
            votes = total[entities[at]]
            total[entities[at]] = 0.0
            values[at, 0] = math.log1p(votes / SMALL)
            values[at, 1] = math.log1p(votes / having / SMALL)
        counts[i - start] = size - first
    return counts, entities[:size], values[:size]
