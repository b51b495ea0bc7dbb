"""Experts made for tests, fitted on small graphs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mohone.data import KnowledgeGraph
from mohone.evidence.answers import Answers
from mohone.evidence.contexts import Contexts
from mohone.evidence.expert import Expert
from mohone.evidence.facts import facts_of
from mohone.evidence.frequency import Frequency
from mohone.evidence.heat import Heat
from mohone.evidence.linked import Linked
from mohone.evidence.neighbors import Neighbors, random_neighbors, weigh
from mohone.evidence.paths import Paths
from mohone.evidence.votes import Votes
from tests.evidence.oracles import N

KINDS: dict[str, Callable[[], Expert]] = {
    "votes": Votes,
    "answers": Answers,
    "heat": Heat,
    "paths": lambda: Paths(longest=3),
    "contexts": Contexts,
    "frequency": Frequency,
    "linked": Linked,
}
SEEDS = range(3)


def neighbors_of(kg: KnowledgeGraph, seed: int, k: int = 4) -> Neighbors:
    rows = random_neighbors(N, k, seed, ~kg.seen_entities)
    vectors = torch.rand(N, 3, generator=torch.Generator().manual_seed(seed))
    return weigh(rows, vectors)


def fitted(kind: str, kg: KnowledgeGraph, seed: int = 0) -> Expert:
    expert = KINDS[kind]()
    expert.fit(facts_of(kg), neighbors_of(kg, seed), seed)
    return expert


def every(expert: Expert, known: Tensor, relation: Tensor) -> Tensor:
    """The values of all entities: `(batch, N, n_values)`."""
    return expert.at(known, relation, torch.arange(N).repeat(len(known), 1))
