"""Contexts of large graphs: few slots counted, and who has many answers."""

from __future__ import annotations

import pytest
import torch

from mohone.data import KnowledgeGraph
from mohone.evidence.companions import MOST_ANSWERS
from mohone.evidence.contexts import Contexts
from mohone.evidence.expert import Expert
from mohone.evidence.facts import facts_of
from tests.evidence.experts import SEEDS, every
from tests.evidence.oracles import N, chances, random_kg, some_queries
from tests.helpers.graphs import kg_of


def contexts(kg: KnowledgeGraph, **options: int) -> Expert:
    """Contexts that take the graph for a large one, if `most_counted` is 0."""
    expert = Contexts(**options)
    expert.fit(facts_of(kg), None, 0)
    return expert


@pytest.mark.parametrize("seed", SEEDS)
def test_contexts_of_few_slots_are_those_of_all(seed: int) -> None:
    kg = random_kg(seed)
    queries = some_queries(seed)
    few, all_ = contexts(kg, most_counted=0), contexts(kg)
    assert torch.equal(every(few, *queries), every(all_, *queries))
    assert every(few, *queries).any()
    for known, relation in zip(*(part[:10].tolist() for part in queries), strict=True):
        for candidate in range(N):
            assert few.why(known, relation, candidate) == all_.why(known, relation, candidate)


def test_of_a_large_graph_who_has_many_answers_is_no_witness() -> None:
    n = MOST_ANSWERS + 1
    # Two askers and a hub have the same edge; the askers have one answer in common with the hub's many.
    lines = [f"{who} same place" for who in ("a", "b", "c", "hub")]
    lines += [f"hub r t{i:04}" for i in range(n)] + ["a r t0000", "b r t0000", "a r t0001"]
    kg = kg_of({"train": lines, "valid": ["c r t0000"], "test": ["c r t0001"]})
    of, r = kg.entities.ids, torch.tensor([kg.relations.ids["r"]])
    answers = torch.tensor([[of["t0000"], of["t0001"]]])
    expected = {0: [2, 0], 10_000: [3, 2]}  # Witnesses: of the three that have the edge, but for c.
    for most_counted, hits in expected.items():
        expert = contexts(kg, most_counted=most_counted)
        best = expert.at(torch.tensor([of["c"]]), r, answers)[0, :, 1].double()
        assert best.tolist() == pytest.approx([chances([n / 8])[1] if n else 0.0 for n in hits], rel=1e-5)
