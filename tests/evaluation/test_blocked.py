"""Ranking block by block against loops in double precision, and against the ranking of whole matrices."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from mohone.core.errors import TrainingError
from mohone.data import KnowledgeGraph, query_keys
from mohone.evaluation.chunks import block_size
from mohone.evaluation.counting import Block, Counts, Spans
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.settings import ALL_SETTINGS
from mohone.kge import ComplEx, KGEModel, TransE
from tests.evaluation.test_ranks import as_tuples, loop_rank
from tests.helpers.graphs import kg_of
from tests.kge.test_models import Kind, every_model, make

N, R = 23, 4


def a_graph(seed: int = 0) -> KnowledgeGraph:
    """Few names: queries with several right answers, entities to themselves, relations that train lacks."""
    random = np.random.default_rng(seed)

    def lines(n: int, n_relations: int) -> list[str]:
        ends, relations = random.integers(0, N, (n, 2)) ** 2 // N, random.integers(0, n_relations, n)
        return [f"e{h:02} r{r} e{t:02}" for (h, t), r in zip(ends, relations, strict=True)]

    every = [f"e{i:02} r0 e{(i * 7) % N:02}" for i in range(N)]
    return kg_of({"train": lines(60, R - 1) + every, "valid": lines(20, R), "test": lines(20, R)})


Triples = dict[str, list[tuple[int, int, int]]]


def oracle(model: KGEModel, kg: KnowledgeGraph, split: str, near: float = 0.0) -> Triples:
    """Every rank by a loop over candidates, with scores in double precision by the plain formula.

    Scores that are `near` that of the right answer tie.
    """
    splits = ("train", "valid") if split == "valid" else ("train", "valid", "test")
    known = {tuple(triple) for triple in kg.triples(*splits).tolist()}
    train, every = kg.train.tolist(), range(kg.n_entities)
    seen = {"typed": kg.triples(*splits).tolist(), "typed_train": train}
    joined = {frozenset((h, t)) for h, _, t in train}
    model = copy.deepcopy(model).double()
    ranks: Triples = {setting: [] for setting in ALL_SETTINGS}
    for column in (2, 0):
        for triple in getattr(kg, split).tolist():
            of_all = torch.tensor([triple]).repeat(kg.n_entities, 1)
            of_all[:, column] = torch.tensor(every)
            scores = plain_scores(model, of_all, column)
            answer, other = triple[column], triple[2 - column]
            scores = [scores[answer] if abs(score - scores[answer]) < near else score for score in scores]
            left_out = {e for e in every if tuple(of_all[e].tolist()) in known}
            for setting in ALL_SETTINGS:
                candidates = set(every)
                if setting in seen and any(r == triple[1] for _, r, _ in train):
                    candidates = {each[column] for each in seen[setting] if each[1] == triple[1]}
                if setting == "unlinked":
                    candidates = {e for e in every if frozenset((e, other)) not in joined}
                ranks[setting].append(loop_rank(scores, answer, candidates, left_out))
    return ranks


@torch.no_grad()
def plain_scores(model: KGEModel, triples: torch.Tensor, column: int) -> list[float]:
    head, relation, tail = triples.T
    if column == 0 and model.reciprocal:
        head, relation, tail = tail, relation + model.n_relations, head
    return model.score_triples(head, relation, tail).tolist()


def rounded(model: KGEModel) -> KGEModel:
    """With small whole numbers: scores are exact in any precision and order, and ties are frequent."""
    generator = torch.Generator().manual_seed(5)
    for table in model.parameters():
        table.data = torch.randint(-2, 3, table.shape, generator=generator).float()
    return model


@pytest.mark.parametrize("reciprocal", [False, True])
@every_model
def test_blocks_rank_as_loops_do(model: Kind, reciprocal: bool) -> None:
    kg = a_graph()
    net = make(model, kg.n_entities, kg.n_relations, 6, reciprocal).double()
    # Scores that are equal on paper round in other ways; where projections end on a sphere, many are.
    wanted = oracle(net, kg, "test", near=1e-9)
    for block in (4, 100):
        found = LinkPrediction(kg, "test", ALL_SETTINGS, chunk=16, block=block).ranks(net)
        for setting in ALL_SETTINGS:
            for own, (low, high, n) in zip(as_tuples(found[setting]), wanted[setting], strict=True):
                assert low <= own[0] <= own[1] <= high
                assert own[2] == n


@pytest.mark.parametrize("split", ["valid", "test"])
@pytest.mark.parametrize("chunk", [1, 7, None])
def test_ties_are_counted_whatever_the_size_of_a_block(split: str, chunk: int | None) -> None:
    kg = a_graph(1)
    net = rounded(ComplEx(kg.n_entities, kg.n_relations, 2))
    wanted = oracle(net, kg, split)
    assert any(low < high for low, high, _ in wanted["filtered"])
    for block in (None, 1, 22, 23, 24):
        found = LinkPrediction(kg, split, ALL_SETTINGS, chunk, block=block).ranks(net)
        assert {setting: as_tuples(ranks) for setting, ranks in found.items()} == wanted


def test_other_known_answers_than_the_usual_ones() -> None:
    """Where the ranked triples are not among them, other right answers of a query are its candidates."""
    kg = a_graph()
    net = rounded(ComplEx(kg.n_entities, kg.n_relations, 2))
    for known in (("train",), ("test",), ("valid", "test")):
        whole, cut = (
            LinkPrediction(kg, "test", ALL_SETTINGS, known=known, block=block).ranks(net)
            for block in (None, 5)
        )
        for setting in ALL_SETTINGS:
            assert as_tuples(whole[setting]) == as_tuples(cut[setting])


def test_equal_vectors_tie_in_any_block(umls: KnowledgeGraph) -> None:
    """All products are of one size: none rounds in another way than that of the right answer's score."""
    torch.manual_seed(0)
    net = ComplEx(umls.n_entities, umls.n_relations, 50, init_std=1.0)
    net.entity.data[:] = net.entity.data[0]
    for block in (32, 64):
        ranks = LinkPrediction(umls, "test", ("filtered",), block=block).ranks(net)["filtered"]
        assert (ranks.optimistic == 1).all()
        assert torch.equal(ranks.pessimistic, ranks.n_candidates)


def test_parts_of_the_split_add_up() -> None:
    kg = a_graph()
    net = rounded(ComplEx(kg.n_entities, kg.n_relations, 2))
    validation = LinkPrediction(kg, "valid", ("filtered",), chunk=4, block=5)
    parts = torch.stack([validation.reciprocal_ranks(net, rank, 3) for rank in range(3)])
    total, n = parts.sum(0).tolist()
    wanted = LinkPrediction(kg, "valid", ("filtered",)).ranks(net)["filtered"].mean.reciprocal()
    assert (n, total) == (len(wanted), pytest.approx(float(wanted.sum())))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_scores_that_are_not_finite_are_an_error(value: float) -> None:
    kg = a_graph()
    net = TransE(kg.n_entities, kg.n_relations, 4)
    net.entity.data[17] = value
    with pytest.raises(TrainingError, match="Scores must be finite, but those of tail query"):
        LinkPrediction(kg, "test", block=4).ranks(net)


def test_a_query_with_many_answers_is_scored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kg = kg_of(
        {
            "train": ["a r b"],
            "valid": ["a r c"],
            "test": [f"a r {name}" for name in "defghij"] + ["b r a"],
        }
    )
    net = rounded(ComplEx(kg.n_entities, kg.n_relations, 2))
    rows = []
    original = ComplEx.tail_query

    def counted(self: ComplEx, head: torch.Tensor, relation: torch.Tensor) -> object:
        rows.append(len(head))
        return original(self, head, relation)

    monkeypatch.setattr(ComplEx, "tail_query", counted)
    found = LinkPrediction(kg, "test", ("filtered",), block=3).ranks(net)["filtered"]
    assert rows == [2]
    assert as_tuples(found) == oracle(net, kg, "test")["filtered"]


def test_large_graphs_are_ranked_in_blocks_and_small_ones_are_not() -> None:
    cpu = torch.device("cpu")
    assert block_size(65_536, cpu) is None
    assert block_size(65_537, cpu) == (1024, 2048)
    assert block_size(40_943, cpu, width=7) == (1024, 7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_counts_are_the_same_in_torch_and_compiled(dtype: torch.dtype) -> None:
    """What a GPU counts, it counts in torch; bfloat16 does so here."""
    torch.manual_seed(0)
    scores = torch.randint(-3, 4, (5, 40)).to(dtype)
    scores[torch.rand(5, 40) < 0.2] = -torch.inf
    gold, rows = torch.tensor([0.0, 1.0, -3.0, 3.0, 0.0, 2.0]).to(dtype), torch.tensor([0, 1, 1, 4, 3, 2])
    block = Block(scores, gold, rows, 0, 10)
    members = torch.cat([torch.arange(10, 50), torch.tensor([12, 19, 20, 49])])
    spans = Spans(members, torch.tensor([0, 5, 40, 41, 44, 3]), torch.tensor([40, 9, 44, 43, 44, 4]))
    every, some = (Counts.zeros(6, scores.device) for _ in range(2))
    for _ in range(2):
        every.add(block)
        some.add_spans(block, spans)
    for i in range(6):
        row = scores[rows[i]].tolist()
        own = float(gold[i])
        chosen = [row[m - 10] for m in members[spans.first[i] : spans.last[i]].tolist()]
        for counts, values in ((every, row), (some, chosen)):
            assert counts.above[i] == 2 * sum(value > own for value in values)
            assert counts.level[i] == 2 * sum(value == own for value in values)
            assert counts.candidates[i] == 2 * sum(value > -math.inf for value in values)


def test_the_known_answers_of_a_few_queries_are_those_of_all(umls: KnowledgeGraph) -> None:
    few = replace(umls, test=umls.test[::40])
    for side in ("tail", "head"):
        whole, part = umls.answers(side, "train", "valid"), umls.answers(side, "train", "valid", of=few.test)
        assert len(part.members) < len(whole.members) / 4
        asked = query_keys(few.test, side, umls.n_relations)
        for a, b in zip(whole.lookup(asked), part.lookup(asked), strict=True):
            assert torch.equal(a, b)
        assert set(part.keys.tolist()) == set(asked.tolist()) & set(whole.keys.tolist())
