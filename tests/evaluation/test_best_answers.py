"""The best answers to queries of all kinds, against loops over every candidate."""

from itertools import product

import pytest
import torch

from mohone.data import KnowledgeGraph
from mohone.data.knowledge_graph import splits_of
from mohone.data.queries import ASKED
from mohone.evaluation.best_answers import AnswerFinder, Wanted, best_answers
from mohone.evaluation.best_columns import best_columns
from mohone.evaluation.best_so_far import BestSoFar
from mohone.kge import ComplEx, KGEModel, TransE, TransR
from tests.helpers.graphs import kg_of

LINES = {
    "train": ["a r b", "b r c", "c r d", "d s a", "a s c", "b s d", "e s e"],
    "valid": ["a r c"],
    "test": ["b r d", "a u d"],
}


@pytest.fixture
def kg() -> KnowledgeGraph:
    return kg_of(LINES)


def models(kg: KnowledgeGraph) -> list[KGEModel]:
    torch.manual_seed(3)
    sizes = kg.n_entities, kg.n_relations
    return [TransE(*sizes, 4), ComplEx(*sizes, 3, init_std=1.0, reciprocal=True), TransR(*sizes, 4)]


def loop(model: KGEModel, kg: KnowledgeGraph, query: list[int], wanted: Wanted) -> list[tuple[int, str]]:
    """All wanted answers and their splits, by the words of `Wanted`, a candidate at a time."""
    side = query.index(ASKED)
    known = {tuple(t): split for split in ("test", "valid", "train") for t in getattr(kg, split).tolist()}
    train = kg.train.tolist()
    found = []
    for i in range((kg.n_entities, kg.n_relations)[side == 1]):
        h, r, t = triple = [i if part == ASKED else part for part in query]
        with_relation = [each for each in train if each[1] == r]
        seen = [any(each[0] == h for each in with_relation), any(each[2] == t for each in with_relation)]
        of_type = all(seen) if side == 1 else seen[side == 2]
        if wanted.typed and with_relation and not of_type:
            continue
        if not wanted.known and tuple(triple) in known:
            continue
        loops = any(each[0] == each[2] and each[1] == r for each in known)
        own = loops if wanted.own is None else wanted.own
        if side != 1 and h == t and not own:
            continue
        ids = [torch.tensor([part]) for part in (h, r, t)]
        scores = model.score_tails(ids[0], ids[1])[0, t], model.score_heads(ids[1], ids[2])[0, h]
        score = {0: scores[1], 1: (scores[0] + scores[1]) / 2, 2: scores[0]}[side]
        found.append((-float(score.detach()), i, known.get(tuple(triple), "")))
    return [(i, split) for _, i, split in sorted(found)]


@pytest.mark.parametrize(
    ("known", "typed", "own"), list(product([True, False], [True, False], [None, True, False]))
)
def test_answers_are_those_of_a_loop(kg: KnowledgeGraph, known: bool, typed: bool, own: bool | None) -> None:
    wanted = Wanted(9, known, typed, own)
    entities, relations = range(kg.n_entities), range(kg.n_relations)
    queries = [[h, r, ASKED] for h in entities for r in relations]
    queries += [[ASKED, r, t] for r in relations for t in entities]
    queries += [[h, ASKED, t] for h in entities for t in entities]
    for model, block in product(models(kg), (None, 2)):
        best = AnswerFinder(kg, wanted, block).find(model, torch.tensor(queries))
        for query, ids, splits in zip(queries, best.ids.tolist(), best.splits.tolist(), strict=True):
            names = ["train", "valid", "test", ""]
            found = [(i, names[s]) for i, s in zip(ids, splits, strict=True) if i >= 0]
            expected = loop(model, kg, query, wanted)[:9]
            assert found == (expected if known else [(i, "") for i, _ in expected])


@pytest.mark.parametrize("query", [[0, 1, ASKED], [ASKED, 1, 2], [0, ASKED, 2]])
def test_one_query_is_answered_in_blocks_too(kg: KnowledgeGraph, query: list[int]) -> None:
    model, asked = models(kg)[1], torch.tensor([query])
    whole, cut = (AnswerFinder(kg, Wanted(4), block).find(model, asked).ids for block in (None, 2))
    assert torch.equal(whole, cut)
    assert (whole >= 0).any()


def test_the_own_entity_is_left_out_but_where_the_data_have_such_triples(kg: KnowledgeGraph) -> None:
    """A translation of nothing makes an entity its own best answer."""
    model = TransE(kg.n_entities, kg.n_relations, 4)
    model.relation.data.zero_()
    own = kg.entities.ids["a"]
    for relation, own_is_best in (("r", False), ("s", True), ("u", False)):
        query = own, kg.relations.ids[relation], ASKED
        best = best_answers(model, kg, query, Wanted(1))
        assert (best[0].name == "a") == own_is_best
        assert best_answers(model, kg, query, Wanted(1, own=True))[0].name == "a"
        assert "a" not in [answer.name for answer in best_answers(model, kg, query, Wanted(own=False))]


def test_ties_are_in_the_order_of_names_whatever_topk_takes() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 4, (40, 30), generator=generator).float()
    for k in (1, 5, 29, 30, 31):
        loops = [sorted(range(30), key=lambda i: (-row[i], i))[:k] for row in scores.tolist()]
        assert best_columns(scores, k).tolist() == loops
        for width in (1, 7, 30):
            so_far = BestSoFar(40, min(k, 30))
            for columns in torch.arange(30).split(width):
                so_far.add(scores[:, columns].contiguous(), int(columns[0]))
            best = so_far.sorted()
            assert best.ids.tolist() == loops
            assert torch.equal(best.scores, scores.gather(1, best.ids))


def test_the_split_of_a_triple_is_the_first_that_has_it() -> None:
    kg = kg_of({"train": ["a r b"], "valid": ["a r b", "b r c"], "test": ["b r c", "c r a"]})
    triples = torch.tensor([[0, 0, 1], [1, 0, 2], [2, 0, 0], [0, 0, 2], [2, 0, 2]])
    assert splits_of(kg, triples).tolist() == [0, 1, 2, -1, -1]
