"""Test triples that can be read off train, beside a count by loops."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohone.data import KnowledgeGraph
from mohone.data.leaks import COPY_PAIRS, COPY_SHARE
from tests.helpers.graphs import kg_of

triples = st.tuples(st.sampled_from("abcde"), st.sampled_from("xyz"), st.sampled_from("abcde")).map(" ".join)
splits = st.fixed_dictionaries(
    {
        split: st.lists(triples, min_size=1, max_size=size)
        for split, size in (("train", 25), ("valid", 5), ("test", 10))
    }
)


def named(kg: KnowledgeGraph, *names: str) -> set[tuple[str, str, str]]:
    e, r = kg.entities.names, kg.relations.names
    return {(e[h], r[p], e[t]) for h, p, t in kg.triples(*names).tolist()}


@given(splits)
def test_linked_test_triples_are_those_of_a_loop(lines: dict[str, list[str]]) -> None:
    kg = kg_of(lines)
    train, test = named(kg, "train"), named(kg, "test")
    linked, counts = 0, Counter[tuple[str, str, bool]]()
    for h, r, t in test:
        found = {(s, False) for s in kg.relations.names if s != r and (h, s, t) in train}
        found |= {(s, True) for s in kg.relations.names if h != t and (t, s, h) in train}
        linked += bool(found)
        counts.update((r, *each) for each in found)
    pairs = list(combinations(kg.entities.names, 2))
    joined = [any((a, r, b) in train or (b, r, a) in train for r in kg.relations.names) for a, b in pairs]

    leaks = kg.report.leaks

    assert (leaks.triples, leaks.share) == (linked, linked / len(test))
    assert leaks.chance == (sum(joined) / len(joined) if joined else 0)
    assert {(pair.relation, pair.other, pair.reversed): pair.pairs for pair in leaks.by_relations} == counts
    for pair in leaks.by_relations:
        assert pair.share == pair.pairs / sum(r == pair.relation for _, r, _ in test)
    assert [pair.pairs for pair in leaks.by_relations] == sorted(counts.values(), reverse=True)


@given(splits)
def test_copies_are_those_of_a_loop(lines: dict[str, list[str]]) -> None:
    kg = kg_of(lines)
    every = named(kg, "train", "valid", "test")
    wanted = {}
    for r, s in product(kg.relations.names, repeat=2):
        for turned in (False, True):
            one = {(h, t) for h, p, t in every if p == r and not (turned and h == t)}
            other = {(t, h) if turned else (h, t) for h, p, t in every if p == s and not (turned and h == t)}
            common, larger = len(one & other), max(len(one), len(other))
            if (r < s or (r == s and turned)) and common >= COPY_PAIRS and common >= COPY_SHARE * larger:
                wanted[r, s, turned] = (common, common / larger)
    found = kg.report.leaks.copies
    assert {(pair.relation, pair.other, pair.reversed): (pair.pairs, pair.share) for pair in found} == wanted


def families(n: int) -> dict[str, list[str]]:
    """Each parent with a child: all `parent_of` in train, `child_of` in all splits."""
    up = [f"p{i} parent_of c{i}" for i in range(n)]
    down = [f"c{i} child_of p{i}" for i in range(n)]
    return {"train": up + down[: n - 6], "valid": down[n - 6 : n - 3], "test": down[n - 3 :]}


def test_a_relation_that_is_the_inverse_of_another_is_a_warning_with_its_share() -> None:
    linked, copies = kg_of(families(20)).report.warnings
    assert linked == (
        "train links the head and the tail of 3 test triples (100.0%) by another relation or the other way "
        "round, so that their answers can be copied: child_of by parent_of the other way round (3)"
    )
    assert copies == (
        "a relation tells next to nothing beyond another: "
        "child_of is parent_of the other way round (100.0% of its pairs)"
    )


def test_a_few_linked_pairs_are_told_without_a_warning() -> None:
    chain = [f"e{i:02} r e{i + 1:02}" for i in range(40)]
    test = ["e01 r e00", *(f"e{i:02} r e{i + 3:02}" for i in range(20))]
    report = kg_of({"train": chain, "valid": ["e00 r e05"], "test": test}).report
    assert report.warnings == []
    assert (
        "21 unique, 1 of entities that train links by another relation or the other way round"
        in report.lines()[3]
    )


@pytest.mark.parametrize("linked", [1, 2, 3])
def test_linked_pairs_are_a_warning_from_a_tenth_of_test_on(linked: int) -> None:
    chain = [f"e{i:02} r e{i + 1:02}" for i in range(40)]
    test = [f"e{i + 1:02} r e{i:02}" for i in range(linked)]
    test += [f"e{i:02} r e{i + 3:02}" for i in range(20 - linked)]
    report = kg_of({"train": chain, "valid": ["e00 r e05"], "test": test}).report
    assert len(report.warnings) == (linked >= 2)


def test_linked_pairs_are_no_warning_where_nearly_all_entities_are_linked() -> None:
    train = [f"{a} {'rs'[i % 2]} {b}" for i, (a, b) in enumerate(combinations("abcdefgh", 2))]
    kg = kg_of({"train": train, "valid": ["a q b"], "test": ["b q a", "c q d", "e q f"]})
    assert (kg.report.leaks.share, kg.report.leaks.chance) == (1.0, 1.0)
    assert kg.report.warnings == []


def test_the_report_is_plain_for_a_file() -> None:
    plain: dict[str, Any] = json.loads(json.dumps(kg_of(families(20)).report.to_dict()))
    assert plain["leaks"]["triples"] == 3
    assert plain["leaks"]["by_relations"] == [
        {"relation": "child_of", "other": "parent_of", "reversed": True, "pairs": 3, "share": 1.0}
    ]
    assert plain["splits"]["test"]["repeats"] == {"train": 0, "valid": 0}
