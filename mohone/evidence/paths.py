"""Typed walks from the known entity to the candidate, weighed by how often such walks tell the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.errors import require_float, require_int
from mohone.core.parallel import Array
from mohone.evidence.companions import log_chance
from mohone.evidence.expert import SparseExpert
from mohone.evidence.facts import Facts, span
from mohone.evidence.found import Found, find, with_room
from mohone.evidence.neighbors import Neighbors
from mohone.evidence.path_rules import mine_rules, most_numbered
from mohone.evidence.reasons import Path, Reason

LONGEST = 4
SHORT, LONG = 2, 3  # Longest bodies in dense and in sparse networks.
SPARSE = 8.0  # The mean degree below which a network is sparse.
HEADS = {SHORT: 3_000, LONG: 8_000}
MOST_REASONS = 5
MOST_STEPS = 20_000  # Of the search along one body in a large network.
_LARGE = 50_000  # Entities.
_NO_END = 1 << 62


class Paths(SparseExpert):
    """Rules `body -> r`, with bodies of one or more directed relations.

    Mined from a sample of entities h: `confidence = |pairs (h, t) that body and r join| / (|pairs that the
    body joins| + 5)`, if there are 2 such pairs and it is above `min_confidence`. The values are `log(1 -
    prod(1 - confidence) + 1e-3) - log 1e-3` over the bodies that join h and t, and the same of the best
    confidence alone. All paths are simple: no entity is passed twice and t is not h; so the triple (h, r, t)
    can speak for itself only by the body (r), which is no rule for r. Beyond 50,000 entities, whose hubs have
    many edges, a body says nothing of a query whose walks by it take more than 20,000 steps.

    Args:
        longest: most relations of a body, 1 to 4; `auto`: 3 where entities have fewer than 8 neighbouring
            triples on average (WN18RR: 4.2), else 2; fewer where there are too many relations and entities
            for so many to be numbered.
        n_heads: how many entities are sampled; `auto`: 3,000 for bodies up to 2, else 8,000.
        min_confidence: of a rule.
    """

    values = ("paths", "best_path")

    def __init__(
        self, longest: int | str = "auto", n_heads: int | str = "auto", min_confidence: float = 0.01
    ) -> None:
        super().__init__()
        self.longest = longest if longest == "auto" else require_int("longest", longest, 1, LONGEST)
        self.n_heads = n_heads if n_heads == "auto" else require_int("n_heads", n_heads, 1)
        self.min_confidence = require_float("min_confidence", min_confidence, below=1.0)
        self.register_buffer("bodies", torch.empty(0, 1, dtype=torch.int32))
        self.register_buffer("confidences", torch.empty(0, dtype=torch.float64))
        self.register_buffer("starts", torch.zeros(1, dtype=torch.int64))
        self.bodies: Tensor
        self.confidences: Tensor
        self.starts: Tensor

    def learn(self, facts: Facts, neighbors: Neighbors | None, seed: int) -> None:  # noqa: ARG002
        """Mine the rules.

        They are kept as `bodies` `(n_rules, longest)`, -1 after the last relation, `confidences` `(n_rules,)`
        and `starts` `(2 R + 1,)`, where those of each relation begin.
        """
        degree = len(facts.target) / max(1, facts.n_entities)
        longest = self.longest
        if isinstance(longest, str):
            longest = min(LONG if degree < SPARSE else SHORT, most_numbered(facts))
        n_heads = HEADS[min(max(longest, SHORT), LONG)] if isinstance(self.n_heads, str) else self.n_heads
        rules = mine_rules(facts, longest, n_heads, self.min_confidence, seed)
        self.bodies, self.confidences, self.starts = map(torch.from_numpy, rules)

    def found(self, known: Array, relation: Array) -> Found:
        """Both values of all ends of the rules' paths."""
        rules = self.bodies.numpy(), self.confidences.numpy(), self.starts.numpy()
        most = MOST_STEPS if self.facts.n_entities > _LARGE else _NO_END
        return find(
            lambda start, stop: _paths(self.facts, *rules, known, relation, most, start, stop), len(known)
        )

    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """The best bodies that join the two, with a path of each."""
        rules = range(int(self.starts[relation]), int(self.starts[relation + 1]))
        out: list[Reason] = []
        for rule in sorted(rules, key=lambda rule: -float(self.confidences[rule])):
            body = self.bodies[rule].numpy()
            path = _path(self.facts, body, known, candidate)
            if len(path):
                relations = tuple(body[: len(path) - 1].tolist())
                out.append(Path(relations, tuple(path.tolist()), float(self.confidences[rule])))
            if len(out) == MOST_REASONS:
                break
        return out

    def notes(self) -> dict[str, Any]:
        """How many rules there are, and how long."""
        lengths = (self.bodies >= 0).sum(1)
        by_length = {str(n): int((lengths == n).sum()) for n in range(1, self.bodies.shape[1] + 1)}
        return {"rules": len(self.bodies), "rules_by_length": by_length}


@njit(cache=True, nogil=True)
def _paths(
    facts: Facts,
    bodies: Array,
    confidences: Array,
    rule_starts: Array,
    known: Array,
    relation: Array,
    most: int,
    start: int,
    stop: int,
) -> Any:
    counts = np.zeros(stop - start, np.int64)
    entities, values = np.empty(1024, np.int32), np.empty((1024, 2), np.float32)
    n = len(facts.starts) - 1
    against, best = np.zeros(n), np.zeros(n)
    joined = np.full(n, -1, np.int64)  # The last body that joined the known entity and this one.
    ends = np.empty(n, np.int32)
    size, stamp = 0, 0
    for i in range(start, stop):
        first = size
        for rule in range(rule_starts[relation[i]], rule_starts[relation[i] + 1]):
            stamp += 1
            n_ends = _ends(facts, bodies[rule], known[i], most, joined, stamp, ends)
            confidence, part = confidences[rule], math.log1p(-confidences[rule])
            entities, values = with_room(entities, values, size + n_ends)
            for j in range(n_ends):
                end = ends[j]
                if against[end] == 0.0:
                    entities[size] = end
                    size += 1
                against[end] += part
                best[end] = max(best[end], confidence)
        for at in range(first, size):
            end = entities[at]
            values[at, 0] = log_chance(np.float32(1.0) - math.exp(np.float32(against[end])))
            values[at, 1] = log_chance(np.float32(best[end]))
            against[end] = best[end] = 0.0
        counts[i - start] = size - first
    return counts, entities[:size], values[:size]


@njit(cache=True, nogil=True)
def _ends(facts: Facts, body: Array, known: int, most: int, joined: Array, stamp: int, ends: Array) -> Any:
    """The ends of all simple paths with this body, each once: their number, and themselves in `ends`.

    There are none if that takes more than `most` steps.
    """
    length, nodes, at, last = _begun(facts, body, known)
    depth, n_ends, n_steps = 0, 0, 0
    while depth >= 0:
        n_steps += 1
        if n_steps > most:
            return 0
        if at[depth] == last[depth]:
            depth -= 1
            continue
        node = facts.target[at[depth]]
        at[depth] += 1
        if depth == length - 1 and joined[node] == stamp:
            continue
        if _passed(nodes, depth, node):
            continue
        if depth == length - 1:
            joined[node] = stamp
            ends[n_ends] = node
            n_ends += 1
        else:
            depth += 1
            nodes[depth] = node
            at[depth], last[depth] = span(facts, node, body[depth])
    return n_ends


@njit(cache=True, nogil=True, inline="always")
def _passed(nodes: Array, depth: int, node: int) -> Any:
    found = False
    for i in range(depth + 1):
        found |= nodes[i] == node
    return found


@njit(cache=True, nogil=True)
def _begun(facts: Facts, body: Array, known: int) -> Any:
    """A search along a body before its first step: the body's length, each step's node, next, last."""
    length = 0
    while length < len(body) and body[length] >= 0:
        length += 1
    nodes, at, last = np.empty(length + 1, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    nodes[0] = known
    at[0], last[0] = span(facts, known, body[0])
    return length, nodes, at, last


@njit(cache=True, nogil=True)
def _path(facts: Facts, body: Array, known: int, candidate: int) -> Any:
    """The entities of the first simple path with this body between the two; empty: there is none."""
    length, nodes, at, last = _begun(facts, body, known)
    depth = 0
    while depth >= 0:
        if at[depth] == last[depth]:
            depth -= 1
            continue
        node = facts.target[at[depth]]
        at[depth] += 1
        if _passed(nodes, depth, node) or (node == candidate) != (depth == length - 1):
            continue
        nodes[depth + 1] = node
        if depth == length - 1:
            return nodes
        depth += 1
        at[depth], last[depth] = span(facts, node, body[depth])
    return nodes[:0]
