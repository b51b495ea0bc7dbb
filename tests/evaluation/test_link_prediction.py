import math

import pytest
import torch
from torch import Tensor

from mohone.core.errors import TrainingError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.metrics import report
from mohone.evaluation.settings import SETTINGS
from mohone.kge import ComplEx, TransE
from tests.evaluation.test_ranks import loop_rank
from tests.helpers.graphs import kg_of


class DistMultOfOne:
    """DistMult of dimension 1 with given numbers: known ranks by hand."""

    def __init__(self, entity: list[float]) -> None:
        self.entity = torch.tensor(entity)

    def score_tails(self, head: Tensor, relation: Tensor) -> Tensor:  # noqa: ARG002
        return self.entity[head][:, None] * self.entity[None, :]

    def score_heads(self, relation: Tensor, tail: Tensor) -> Tensor:
        return self.score_tails(tail, relation)


def brute_force(model: TransE, kg: KnowledgeGraph, split: str, setting: str) -> list[tuple[int, int, int]]:
    """Every rank by a loop over triples and candidates, known answers from Python sets."""
    splits = ("train", "valid") if split == "valid" else ("train", "valid", "test")
    known = {tuple(t) for t in kg.triples(*splits).tolist()}
    source = kg.train if setting == "typed_train" else kg.triples(*splits)
    ranks = []
    for side, column in (("tail", 2), ("head", 0)):
        for h, r, t in getattr(kg, split).tolist():
            if setting == "filtered":
                candidates = set(range(kg.n_entities))
            else:
                candidates = {triple[column] for triple in source.tolist() if triple[1] == r}
            one = torch.tensor([h]), torch.tensor([r]), torch.tensor([t])
            with torch.no_grad():
                row = model.score_tails(*one[:2]) if side == "tail" else model.score_heads(*one[1:])
            if side == "tail":
                others = {e for e in range(kg.n_entities) if (h, r, e) in known}
            else:
                others = {e for e in range(kg.n_entities) if (e, r, t) in known}
            answer = t if side == "tail" else h
            ranks.append(loop_rank(row[0].tolist(), answer, candidates, others))
    return ranks


@pytest.mark.parametrize("split", ["valid", "test"])
def test_ranks_equal_brute_force(umls: KnowledgeGraph, split: str) -> None:
    torch.manual_seed(0)
    part = graph_like(umls, 40)
    # Rounded numbers: products are exact in any order, and ties are frequent.
    model = ComplEx(part.n_entities, part.n_relations, 4)
    for table in model.parameters():
        table.data = torch.randint(-2, 3, table.shape).float()
    found = LinkPrediction(part, split).ranks(model)
    for setting in SETTINGS:
        ranks = found[setting]
        assert brute_force(model, part, split, setting) == list(  # type: ignore[arg-type]
            zip(
                ranks.optimistic.tolist(),
                ranks.pessimistic.tolist(),
                ranks.n_candidates.tolist(),
                strict=True,
            )
        )


def graph_like(kg: KnowledgeGraph, n: int) -> KnowledgeGraph:
    """The same data set with n validation and n test triples."""
    from dataclasses import replace

    return replace(kg, valid=kg.valid[:n], test=kg.test[:n])


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
def test_chunks_change_nothing(umls: KnowledgeGraph, chunk: int) -> None:
    torch.manual_seed(1)
    part = graph_like(umls, 20)
    model = TransE(part.n_entities, part.n_relations, 8)
    whole, cut = (LinkPrediction(part, "test", chunk=c).ranks(model) for c in (None, chunk))
    for setting in SETTINGS:
        torch.testing.assert_close(cut[setting].mean, whole[setting].mean)


@pytest.mark.parametrize("world", [1, 2, 3, 7])
def test_parts_of_the_split_add_up(umls: KnowledgeGraph, world: int) -> None:
    torch.manual_seed(1)
    part = graph_like(umls, 21)
    model = TransE(part.n_entities, part.n_relations, 8)
    validation = LinkPrediction(part, "valid", ("filtered",), chunk=4)
    parts = [validation.reciprocal_ranks(model, rank, world) for rank in range(world)]
    total, n = torch.stack(parts).sum(0).tolist()
    assert n == 2 * 21
    wanted = validation.ranks(model)["filtered"].mean.reciprocal().mean()
    assert total / n == pytest.approx(float(wanted), abs=1e-12)
    assert validation.mrr(model) == pytest.approx(float(wanted), abs=1e-12)


def test_known_answers_can_be_chosen(umls: KnowledgeGraph) -> None:
    torch.manual_seed(1)
    model = TransE(umls.n_entities, umls.n_relations, 8)
    usual, none, all_of_them = (
        LinkPrediction(umls, "valid", ("filtered",), known=known).ranks(model)["filtered"]
        for known in ((), ("valid",), ("train", "valid", "test"))
    )
    assert (all_of_them.mean <= usual.mean).all()
    assert (usual.mean <= none.mean).all()
    assert (usual.mean < none.mean).any()


def test_all_scores_equal_gives_the_mean_rank(base: KnowledgeGraph) -> None:
    ranks = LinkPrediction(base, "test").ranks(DistMultOfOne([0.0] * 4))
    assert ranks["filtered"].mean.tolist() == [2.0, 2.0]
    figures = report(ranks, base.test, base)["filtered"]
    assert figures["mrr"] == 0.5
    assert (figures["mrr_optimistic"], figures["mrr_pessimistic"]) == (1.0, pytest.approx(1 / 3))


def test_filtering_by_hand() -> None:
    kg = kg_of({"train": ["a r b", "e q e"], "valid": ["a r c"], "test": ["a r d"]})
    ranks = LinkPrediction(kg, "test").ranks(DistMultOfOne([1.0, 4.0, 3.0, 2.0, 0.5]))["filtered"]
    assert ranks.mean.tolist() == [1.0, 4.0]
    assert float(ranks.mean.reciprocal().mean()) == 0.625


def test_typed_train_always_has_the_answer() -> None:
    kg = kg_of({"train": ["a r b"], "valid": ["a r c"], "test": ["a r d"]})
    ranks = LinkPrediction(kg, "test").ranks(DistMultOfOne([1.0, 4.0, 3.0, 2.0]))
    # Tails of r: b in train; b, c and d with the oracle. b and c are known answers.
    assert ranks["typed_train"].n_candidates.tolist() == [1, 1]
    assert ranks["typed"].n_candidates.tolist() == [1, 1]
    assert ranks["typed_train"].mean.tolist() == [1.0, 1.0]


def test_a_relation_unseen_in_train_has_all_candidates() -> None:
    kg = kg_of({"train": ["a r b", "c r d"], "valid": ["a r d"], "test": ["a new c"]})
    ranks = LinkPrediction(kg, "test").ranks(DistMultOfOne([1.0, 4.0, 3.0, 2.0]))
    for setting in SETTINGS:
        assert ranks[setting].n_candidates.tolist() == [4, 4]
        assert ranks[setting].mean.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("table", ["relation", "entity"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_scores_that_are_not_finite_are_an_error(umls: KnowledgeGraph, table: str, value: float) -> None:
    model = ComplEx(umls.n_entities, umls.n_relations, 4)
    model.get_parameter(table).data[3] = value
    with pytest.raises(TrainingError, match="Scores must be finite"):
        LinkPrediction(umls, "test").ranks(model)


def test_laws_hold(umls: KnowledgeGraph) -> None:
    torch.manual_seed(2)
    model = TransE(umls.n_entities, umls.n_relations, 8)
    figures = report(LinkPrediction(umls, "test").ranks(model), umls.test, umls)
    for each in figures.values():
        assert each["hits@1"] <= each["hits@3"] <= each["hits@10"]
        assert each["mrr"] == pytest.approx((each["tail"]["mrr"] + each["head"]["mrr"]) / 2)
        assert each["n_ranked"] == 2 * len(umls.test)
    assert figures["filtered"]["mrr"] <= figures["typed"]["mrr"]
    ranks = LinkPrediction(umls, "test").ranks(model)
    assert (ranks["typed"].mean <= ranks["filtered"].mean).all()
    raw = LinkPrediction(umls, "test", ("filtered",), known=("test",)).ranks(model)["filtered"]
    assert (ranks["filtered"].mean <= raw.mean).all()
    assert abs(figures["filtered"]["amri"]) < 0.15  # Random vectors are no better than chance.


def test_same_ranks_as_pykeen(umls: KnowledgeGraph) -> None:
    pykeen = pytest.importorskip("pykeen.evaluation", reason="the bench extra is not installed")
    torch.manual_seed(3)
    model = TransE(umls.n_entities, umls.n_relations, 8)
    evaluator = pykeen.RankBasedEvaluator()
    known = {side: umls.answers(side, "train", "valid", "test") for side in ("tail", "head")}
    head, relation, tail = umls.test.T
    with torch.no_grad():
        for side, scores, answers, entity in (
            ("tail", model.score_tails(head, relation), tail, head),
            ("head", model.score_heads(relation, tail), head, tail),
        ):
            gold = scores.gather(1, answers[:, None])
            rows, columns = known[side].lookup(entity * umls.n_relations + relation)
            filtered = scores.clone()
            filtered[rows, columns] = -torch.inf
            filtered.scatter_(1, answers[:, None], gold)
            evaluator.process_scores_(umls.test, side, filtered, gold)
    theirs = evaluator.finalize()
    ours = report(LinkPrediction(umls, "test").ranks(model), umls.test, umls)["filtered"]
    for name, key in (
        ("inverse_harmonic_mean_rank", "mrr"),
        ("hits_at_1", "hits@1"),
        ("hits_at_10", "hits@10"),
        ("arithmetic_mean_rank", "mr"),
        ("adjusted_arithmetic_mean_rank_index", "amri"),
    ):
        assert theirs.get_metric(f"both.realistic.{name}") == pytest.approx(ours[key], abs=1e-6)
