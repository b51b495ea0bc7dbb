"""Slow and obvious values of all experts, by loops over the triples of small graphs."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from mohone.data import KnowledgeGraph
from mohone.evidence.neighbors import Neighbors
from tests.helpers.graphs import kg_of

Triple = tuple[int, int, int]
Body = tuple[int, ...]
N, R = 30, 4  # Entities and relations of the graphs; the last two and the last one are not in train.


def random_kg(seed: int, n_triples: int = 150) -> KnowledgeGraph:
    """Triples with loops, and with pairs joined by several relations."""
    generator = torch.Generator().manual_seed(seed)
    head, tail = (torch.rand(2, n_triples, generator=generator) ** 1.5 * (N - 2)).long()
    relation = torch.randint(0, R - 1, (n_triples,), generator=generator)
    lines = [f"e{h:02} r{r} e{t:02}" for h, r, t in zip(head, relation, tail, strict=True)]
    lines += ["e03 r0 e03", "e03 r1 e03", "e04 r0 e05", "e04 r1 e05", "e05 r0 e04"]
    lines += [f"e{i:02} r0 e{i:02}" for i in range(N - 8, N - 2)]
    valid = [f"e{N - 1} r0 e01", f"e{N - 2} r1 e02", "e00 r2 e01", "e05 r1 e06", f"e01 r{R - 1} e02"]
    return kg_of({"train": lines, "valid": valid, "test": ["e00 r0 e01"]})


def without(kg: KnowledgeGraph, triple: Triple) -> KnowledgeGraph:
    """The data set without a training triple."""
    return replace(kg, train=kg.train[(kg.train != torch.tensor(triple)).any(1)])


def some_queries(seed: int, n: int = 40) -> tuple[Tensor, Tensor]:
    """Known entities and directed relations, the unseen among them, sorted by relation."""
    codes = torch.randperm(N * 2 * R, generator=torch.Generator().manual_seed(seed))[:n]
    codes = torch.cat([codes, torch.tensor([(R - 1) * N, N - 1, 3, R * N + 3])]).unique()
    return codes % N, codes // N


class Oracle:
    """Values of one data set."""

    def __init__(self, kg: KnowledgeGraph, neighbors: Neighbors) -> None:
        self.kg = kg
        triples = [tuple(triple) for triple in kg.train.tolist()]
        self.edges: set[Triple] = {*triples, *((t, r + R, h) for h, r, t in triples)}
        self.near: dict[int, list[tuple[int, float]]] = {
            h: list(zip(neighbors.rows[h].tolist(), neighbors.weights[h].tolist(), strict=True))
            for h in range(N)
        }

    def of(self, h: int) -> list[tuple[int, int]]:
        return [(r, t) for a, r, t in self.edges if a == h]

    def votes(self, h: int, r: int, t: int) -> list[float]:
        total = having = 0.0
        for other, weight in self.near[h]:
            if other >= 0:
                total += weight * ((other, r, t) in self.edges)
                having += weight * any((other, r, x) in self.edges for x in range(N))
        return [math.log(1 + total / 0.1), math.log(1 + total / having / 0.1) if total else 0.0]

    def answers(self, h: int, r: int, t: int) -> list[float]:
        total = 0.0
        for known in range(N):
            if (h, r, known) in self.edges and known != t:
                total += sum(weight for other, weight in self.near[known] if other == t)
        return [math.log(1 + total / 0.1)]

    def frequency(self, h: int, r: int, t: int) -> list[float]:
        return [math.log(1 + sum((x, r, t) in self.edges for x in range(N) if x != h))]

    def linked(self, h: int, r: int, t: int) -> list[float]:
        return [float(h != t and any((h, other, t) in self.edges for other in range(2 * R) if other != r))]

    def contexts(self, h: int, r: int, t: int) -> list[float]:
        confidences = []
        for q, d in self.of(h):
            if d != h and (q, d) != (r, t):
                others = [x for x in range(N) if (x, q, d) in self.edges and x != h]
                hits = sum((x, r, t) in self.edges for x in others)
                if hits >= 2 and hits / (len(others) + 5) > 0.01:
                    confidences.append(hits / (len(others) + 5))
        return chances(confidences)

    def simple_paths(self, h: int, longest: int) -> set[tuple[Body, int]]:
        """Bodies and ends of all simple paths from h."""
        found: set[tuple[Body, int]] = set()
        paths: list[tuple[Body, Body]] = [((), (h,))]
        for _ in range(longest):
            paths = [
                ((*body, r), (*nodes, t))
                for body, nodes in paths
                for r, t in self.of(nodes[-1])
                if t not in nodes
            ]
            found |= {(body, nodes[-1]) for body, nodes in paths}
        return found

    def rules(self, longest: int, least: float) -> dict[tuple[Body, int], float]:
        """The confidence of each rule, counted from all entities."""
        joined: dict[Body, int] = {}
        hits: dict[tuple[Body, int], int] = {}
        for h in range(N):
            for body, t in self.simple_paths(h, longest):
                joined[body] = joined.get(body, 0) + 1
                for r in range(2 * R):
                    if (h, r, t) in self.edges and body != (r,):
                        hits[body, r] = hits.get((body, r), 0) + 1
        rules = {rule: n / (joined[rule[0]] + 5) for rule, n in hits.items() if n >= 2}
        return {rule: confidence for rule, confidence in rules.items() if confidence > least}


def heat(kg: KnowledgeGraph, scales: tuple[float, ...], first_walk: int) -> Tensor:
    """`(n, n, n_scales)` float64, by exponentials of a dense matrix."""
    adjacency = torch.zeros(N, N, dtype=torch.float64)
    for h, _, t in kg.train.tolist():
        if h != t:
            adjacency[h, t] = adjacency[t, h] = 1.0
    degrees = adjacency.sum(1)
    steps = adjacency / degrees.clamp(min=1)[:, None]
    out = []
    for scale in scales:
        psi = torch.linalg.matrix_exp(-scale * (torch.eye(N, dtype=torch.float64) - steps))
        for k in range(first_walk):
            psi -= math.exp(-scale) * scale**k * torch.linalg.matrix_power(steps, k)
        value = (psi.clamp(min=0) + 1e-6).log() - (degrees / degrees.sum() + 1e-6).log()
        out.append(torch.where(degrees[:, None] > 0, value, 0.0))
    return torch.stack(out, 2)


def thin_heat(kg: KnowledgeGraph, scales: tuple[float, ...], first_walk: int, thinnest: float) -> Tensor:
    """The same where heat that spreads to less than `thinnest` a neighbour counts as spread by degrees."""
    near: dict[int, set[int]] = {node: set() for node in range(N)}
    for h, _, t in kg.train.tolist():
        if h != t:
            near[h].add(t)
            near[t].add(h)
    share = torch.tensor([len(near[node]) for node in range(N)], dtype=torch.float64)
    share /= share.sum()
    out = torch.zeros(N, N, len(scales), dtype=torch.float64)
    for home in range(N):
        now, thin = {home: 1.0}, 0.0
        heat = torch.zeros(len(scales), N, dtype=torch.float64)
        chances_ = torch.tensor(
            [[math.exp(-s) * s**k / math.factorial(k) for k in range(40)] for s in scales]
        )
        chances_[:, :first_walk] = 0.0
        heat[:, home] = chances_[:, 0]
        for step in range(1, 40):
            after: dict[int, float] = {}
            for node, mass in now.items():
                if mass / max(1, len(near[node])) < thinnest:
                    thin += mass
                    continue
                for other in near[node]:
                    after[other] = after.get(other, 0.0) + mass / len(near[node])
            for node, mass in after.items():
                heat[:, node] += chances_[:, step] * mass
            heat += chances_[:, step, None] * thin * share
            now = after
        if near[home]:
            out[home] = ((heat + 1e-6).log() - (share + 1e-6).log()).T
    return out


def chances(confidences: list[float]) -> list[float]:
    """The noisy or of rules and the best one, in the form of both experts of rules."""
    against = math.prod(1 - confidence for confidence in confidences)
    best = max(confidences, default=0.0)
    return [math.log(1 - against + 1e-3) - math.log(1e-3), math.log(best + 1e-3) - math.log(1e-3)]
