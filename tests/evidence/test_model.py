"""The model with evidence: its contract, its storing, its explanations, and the way from a baseline to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.sample import Sample
from mohone.evaluation.settings import ALL_SETTINGS
from mohone.evidence.answers import Answers
from mohone.evidence.collect import add_best_of_mix, collect
from mohone.evidence.contexts import Contexts
from mohone.evidence.expert import Expert
from mohone.evidence.facts import facts_of
from mohone.evidence.fit import Fitting, fit_evidence, hold_out
from mohone.evidence.frequency import Frequency
from mohone.evidence.heat import Heat
from mohone.evidence.linked import Linked
from mohone.evidence.model import EvidenceModel
from mohone.evidence.neighbors import random_neighbors, weigh
from mohone.evidence.paths import Paths
from mohone.evidence.votes import Votes
from mohone.kge import ComplEx, KGEModel, TransE
from tests.evidence.oracles import N, R, random_kg

KINDS: tuple[Callable[[], Expert], ...] = (Votes, Answers, Heat, Paths, Contexts, Frequency, Linked)


def an_inner(kind: type[KGEModel] = ComplEx, n: int = N, n_relations: int = R) -> KGEModel:
    torch.manual_seed(0)
    model = kind(n, n_relations, 4)
    for table in model.parameters():
        table.data.normal_()
    return model.requires_grad_()


def a_model(kg: KnowledgeGraph, most_dense: int = N) -> EvidenceModel:
    experts = [Heat(most_dense=most_dense, thinnest=0.02) if kind is Heat else kind() for kind in KINDS]
    neighbors = weigh(random_neighbors(N, 4, 0, ~kg.seen_entities))
    for expert in experts:
        expert.fit(facts_of(kg), neighbors, 0)
    model = EvidenceModel(an_inner(), experts, 2.0)
    model.weights.normal_()
    return model


HEAD, RELATION, TAIL = (
    torch.tensor([0, 3, 5, 29, 1]),
    torch.tensor([0, 1, 2, 3, 1]),
    torch.tensor([1, 3, 0, 2, 28]),
)


def test_tails_heads_and_triples_agree() -> None:
    model = a_model(random_kg(0))
    tails, heads = model.score_tails(HEAD, RELATION), model.score_heads(RELATION, TAIL)
    assert tails.shape == heads.shape == (5, N)
    one = torch.arange(5)
    torch.testing.assert_close(model.score_triples(HEAD, RELATION, TAIL), tails[one, TAIL])
    query = model.head_query(RELATION, TAIL)
    torch.testing.assert_close(model.score_pairs(query, HEAD), heads[one, HEAD])
    torch.testing.assert_close(model.score_candidates(query), heads)
    some = torch.tensor([4, 2, 28])
    torch.testing.assert_close(model.score_tails(HEAD, RELATION, some), tails[:, some])
    torch.testing.assert_close(model.score_heads(RELATION, TAIL, some), heads[:, some])
    both = model.tail_query(HEAD, RELATION)._replace(
        entity=torch.cat([HEAD, TAIL]), relation=torch.cat([RELATION, RELATION + R])
    )
    torch.testing.assert_close(model.score_candidates(both), torch.cat([tails, heads]))


def test_equal_queries_have_equal_scores_in_any_order() -> None:
    model = a_model(random_kg(0))
    rows = torch.tensor([3, 0, 0, 4, 3, 1, 0])
    each = torch.cat([model.score_tails(HEAD[i : i + 1], RELATION[i : i + 1]) for i in rows.tolist()])
    torch.testing.assert_close(model.score_tails(HEAD[rows], RELATION[rows]), each)
    candidates = torch.randint(N, (len(rows), 4), generator=torch.Generator().manual_seed(0))
    values = model.values_at(HEAD[rows], RELATION[rows], candidates)
    for place, i in enumerate(rows.tolist()):
        alone = model.values_at(HEAD[i : i + 1], RELATION[i : i + 1], candidates[place : place + 1])
        torch.testing.assert_close(values[place], alone[0])


def test_scores_are_the_weighted_values() -> None:
    model = a_model(random_kg(0))
    every = torch.arange(N).repeat(5, 1)
    values = model.values_at(TAIL, RELATION + R, every)
    expected = (values * model.weights[RELATION + R][:, None]).sum(2)
    torch.testing.assert_close(model.score_heads(RELATION, TAIL), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(values[:, :, 0], 2.0 * model.inner.score_heads(RELATION, TAIL).detach())
    relations = model.score_relations(HEAD, TAIL).gather(1, RELATION[:, None])[:, 0]
    torch.testing.assert_close(relations, model.score_triples(HEAD, RELATION, TAIL))


@pytest.mark.parametrize("block", [7, 16])
def test_what_several_models_add_to_is_scored_once(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    kg = random_kg(0)
    model = a_model(kg, most_dense=0)
    model.keep_part("frequency", torch.randn_like(model.weights))
    models = {"baseline": model.inner, "infused": model, **model.parts}
    test = LinkPrediction(kg, "test", ("filtered", "typed"), block=block)
    one_by_one = {name: test.ranks(each) for name, each in models.items()}
    calls, score = [0], ComplEx.score_candidates

    def counted(self: ComplEx, *arguments: Any) -> torch.Tensor:
        calls[0] += 1
        return score(self, *arguments)

    monkeypatch.setattr(ComplEx, "score_candidates", counted)
    together = test.ranks_of(models, "test")
    n_together, calls[0] = calls[0], 0
    test.ranks(model)
    assert n_together == calls[0]  # All three cost what one does.
    for name, ranks in one_by_one.items():
        for setting, each in ranks.items():
            assert torch.equal(together[name][setting].mean, each.mean)
    assert not torch.equal(together["baseline"]["filtered"].mean, together["frequency"]["filtered"].mean)
    other = an_inner()
    assert [*test.ranks_of({"baseline": other, "infused": model}, "test")] == ["baseline", "infused"]


def test_without_weights_it_is_the_model_alone() -> None:
    model = EvidenceModel(an_inner(), [Frequency()])
    model.attach(facts_of(random_kg(0)))
    torch.testing.assert_close(
        model.score_tails(HEAD, RELATION), model.inner.score_tails(HEAD, RELATION).detach()
    )


def test_it_is_stored_whole(tmp_path: Path) -> None:
    kg = random_kg(0)
    model = a_model(kg)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    again = EvidenceModel(an_inner(), [kind() for kind in KINDS], 2.0)
    again.attach(facts_of(kg))
    again.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(again.score_tails(HEAD, RELATION), model.score_tails(HEAD, RELATION))


def test_explanations_add_up() -> None:
    model = a_model(random_kg(0))
    scores = {"tail": model.score_tails(HEAD, RELATION), "head": model.score_heads(RELATION, HEAD)}
    for side, of_queries in scores.items():
        for row, (known, relation) in enumerate(zip(HEAD.tolist(), RELATION.tolist(), strict=True)):
            for candidate in (0, 3, 17):
                why = model.explain(side, known, relation, candidate)
                assert why.score == sum(share.value * share.weight for share in why.shares)
                assert why.score == pytest.approx(float(of_queries[row, candidate]), rel=1e-4, abs=1e-4)
                assert tuple(share.name for share in why.shares) == model.values
                assert set(why.reasons) == {kind.__name__.lower() for kind in KINDS}


@pytest.mark.parametrize("most_dense", [N, 0])
def test_scores_of_blocks_are_those_of_all(most_dense: int) -> None:
    model = a_model(random_kg(0), most_dense)
    query = model.tail_query(HEAD, RELATION)._replace(relation=torch.tensor([0, 1 + R, 2, 3 + R, 1]))
    whole = model.score_candidates(query)
    score = model.block_scores(query)
    for start, stop in ((0, 4), (4, 11), (11, N), (N - 1, N)):
        found = score(torch.arange(start, stop))
        torch.testing.assert_close(found, whole[:, start:stop], rtol=1e-4, atol=1e-4)
    some = torch.tensor([7, 3, 3, 29, 0])
    torch.testing.assert_close(score(some), whole[:, some], rtol=1e-4, atol=1e-4)
    values = model.values_at(query.entity, query.relation, torch.arange(N).repeat(len(HEAD), 1))
    expected = (values * model.weights[query.relation][:, None]).sum(2)
    torch.testing.assert_close(whole, expected, rtol=2e-3, atol=4e-3)


@pytest.mark.parametrize("most_dense", [N, 0])
def test_it_is_ranked_block_by_block_as_at_once(most_dense: int) -> None:
    kg = random_kg(0)
    model = a_model(kg, most_dense)
    for chunk, block in ((None, 4), (3, 7), (2, 100)):
        whole, cut = (
            LinkPrediction(kg, "test", ALL_SETTINGS, chunk, block=width).ranks(model)
            for width in (None, block)
        )
        for setting in ALL_SETTINGS:
            assert torch.equal(whole[setting].n_candidates, cut[setting].n_candidates)
            apart = (whole[setting].mean - cut[setting].mean).abs()
            assert float((apart == 0).double().mean()) >= 0.98  # Sums may round in another way.
            assert apart.max() <= 1


@pytest.mark.parametrize("most_whole", [N, 7])
def test_lists_hold_the_best_candidates_and_their_values(most_whole: int) -> None:
    kg = random_kg(0)
    model = a_model(kg)
    lists, triples, *_ = collect(model.inner, [*model.experts], kg, 2.0, 10, most_whole=most_whole)
    ranks = LinkPrediction(kg, "valid", ("filtered",)).ranks(model.inner)["filtered"].mean
    known = {tuple(triple) for triple in kg.triples("train", "valid").tolist()}
    seen = []
    for i, (h, r, t) in enumerate(triples.tolist()):
        side = "tail" if i < len(kg.valid) else "head"
        query = torch.tensor([h if side == "tail" else t]), torch.tensor([r + (side == "head") * R])
        assert lists.group[i] == query[1]
        answer = t if side == "tail" else h
        scores = model.values_at(*query, torch.arange(N)[None])[0, :, 0]
        others = [
            x for x in range(N) if x == answer or ((h, r, x) if side == "tail" else (x, r, t)) not in known
        ]
        best = sorted(others, key=lambda x: -float(scores[x]))[:10]
        expected = model.values_at(*query, torch.tensor([best]))[0]
        np.testing.assert_allclose(lists.values[i, : len(best)], expected.numpy(), rtol=1e-5, atol=1e-5)
        assert lists.lengths[i] == len(best)
        assert lists.gold[i] == (best.index(answer) if answer in best else -1)
        at = kg.valid.tolist().index([h, r, t])
        assert lists.rank[i] == ranks[at + (side == "head") * len(kg.valid)]
        seen.append((h, r, t, side))
    assert len(set(seen)) == 2 * len(kg.valid)


def test_lists_get_the_best_candidates_of_a_mix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohone.evidence.collect._MIXED_BLOCK", 8)
    kg = random_kg(0)
    model = a_model(kg)
    first = collect(model.inner, [*model.experts], kg, 2.0, 4)
    known = {tuple(triple) for triple in kg.triples("train", "valid").tolist()}
    for searched in (N, 8):  # All entities, or every fourth block of eight.
        monkeypatch.setattr("mohone.evidence.collect._SEARCHED", searched)
        lists, triples, candidates, _ = add_best_of_mix(first, model, kg, 5, None)
        assert torch.equal(triples, first.triples)
        for i, (h, r, t) in enumerate(triples.tolist()):
            is_tail = i < len(kg.valid)
            entity, answer = (h, t) if is_tail else (t, h)
            query = torch.tensor([entity]), torch.tensor([r + (not is_tail) * R])
            values = model.values_at(*query, torch.arange(N)[None])[0]
            scores = (values * model.weights[query[1]]).sum(1)
            others = [
                x
                for x in range(N)
                if x == answer
                or ((searched == N or x < 8) and ((h, r, x) if is_tail else (x, r, t)) not in known)
            ]
            best = sorted(others, key=lambda x: -float(scores[x]))[:5]
            before = first.candidates[i, : first.lists.lengths[i]].tolist()
            wanted = before + [x for x in best if x not in before]
            found = candidates[i, : lists.lengths[i]].tolist()
            assert found[: len(before)] == before
            assert set(found) == set(wanted)
            assert len(found) == len(wanted)
            expected = values[found].numpy()
            np.testing.assert_allclose(lists.values[i, : len(found)], expected, rtol=1e-5, atol=1e-5)
            assert not lists.values[i, len(found) :].any()
            assert lists.gold[i] == (found.index(answer) if answer in found else -1)


@pytest.mark.parametrize("most_whole", [N, 7])
def test_drawn_queries_are_those_that_validation_ranks(most_whole: int) -> None:
    kg = random_kg(0)
    model = a_model(kg)
    for table in model.inner.parameters():  # Of whole numbers no batch rounds otherwise.
        table.data.mul_(4).round_()
    size = len(kg.valid) + 3
    sample = Sample(size, seed=4)
    drawn = collect(model.inner, [*model.experts], kg, 2.0, 10, most_whole=most_whole, sample=sample)
    every = collect(model.inner, [*model.experts], kg, 2.0, 10, most_whole=most_whole)
    assert len(drawn.triples) == size
    places = {
        (*triple, group): i
        for i, (triple, group) in enumerate(zip(every.triples.tolist(), every.lists.group, strict=True))
    }
    asked = zip(drawn.triples.tolist(), drawn.lists.group, strict=True)
    order = [places[(*triple, group)] for triple, group in asked]
    assert order == sorted(set(order))
    for name, one, other in zip(drawn.lists._fields, drawn.lists, every.lists, strict=True):
        np.testing.assert_array_equal(one, other[order], err_msg=name)
    ranks = LinkPrediction(kg, "valid", ("filtered",), sample=sample).ranks(model.inner)["filtered"].mean
    assert sorted(drawn.lists.rank.tolist()) == sorted(ranks.tolist())
    first = add_best_of_mix(drawn, model, kg, 5, None)
    whole = add_best_of_mix(every, model, kg, 5, None)
    np.testing.assert_array_equal(first.candidates, whole.candidates[order])


def test_weights_are_fitted_on_so_many_queries_at_most(umls: KnowledgeGraph) -> None:
    inner = an_inner(TransE, umls.n_entities, umls.n_relations)
    for fitting in (
        Fitting(most_queries=100),
        Fitting(sample=Sample(100)),
        Fitting(sample=Sample(200), most_queries=100),
    ):
        _, notes = fit_evidence(inner, umls, None, [Frequency()], fitting)
        assert notes["queries_fitted_on"] + notes["queries_left_out"] == 100


@pytest.mark.parametrize("fit_on", ["valid", "train"])
def test_evidence_helps_a_poor_model(umls: KnowledgeGraph, fit_on: str) -> None:
    inner = an_inner(TransE, umls.n_entities, umls.n_relations)
    neighbors = weigh(random_neighbors(umls.n_entities, 10, 0))
    experts = [kind() for kind in KINDS[:-1]]
    fitting = Fitting(fit_on=fit_on, penalty=[5.0, 25.0])
    model, notes = fit_evidence(inner, umls, neighbors, experts, fitting)
    evaluation = LinkPrediction(umls, "test", ("filtered",))
    assert evaluation.mrr(model) > evaluation.mrr(inner) + 0.3
    assert json.loads(json.dumps(notes)) == notes
    assert notes["mode"] == "by_relation"
    n_triples = len(umls.valid) if fit_on == "valid" else len(hold_out(umls, 0).valid)
    assert notes["queries_fitted_on"] + notes["queries_left_out"] == 2 * n_triples
    affects = notes["weights"]["by_relation"]["affects"]["head"]
    assert list(affects) == list(model.values)
    place = umls.relations.ids["affects"] + umls.n_relations
    assert list(affects.values()) == pytest.approx(model.weights[place].tolist(), abs=1e-4)
    assert notes["experts"]["paths"]["rules"] > 100


def test_a_fit_on_train_asks_for_no_triple_of_validation(umls: KnowledgeGraph) -> None:
    weighted = hold_out(umls.weighted(torch.arange(1, len(umls.train) + 1)), 0)
    assert weighted.weights is not None
    assert torch.equal(umls.train[weighted.weights.long() - 1], weighted.train)
    held = hold_out(umls, 0)
    assert len(held.train) + len(held.valid) == len(umls.train)
    assert len(held.valid) == pytest.approx(len(umls.train) / 20, rel=0.3)
    assert torch.equal(torch.cat([held.train, held.valid]).unique(dim=0), umls.train.unique(dim=0))
    inner = an_inner(ComplEx, umls.n_entities, umls.n_relations)
    fits = [
        fit_evidence(inner, kg, None, [Frequency()], Fitting(fit_on="train"))[0].weights
        for kg in (umls, replace(umls, valid=umls.valid[:10]))
    ]
    assert torch.equal(*fits)


@pytest.mark.parametrize(
    "options",
    [{"fit_on": "test"}, {"n_candidates": 1}, {"penalty": 0.0}, {"folds": 1}, {"penalty": [1.0, -1.0]}],
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Fitting(**options)


@pytest.mark.parametrize("kind", [ComplEx, TransE])
def test_lists_are_the_same_in_blocks(kind: type[KGEModel]) -> None:
    kg = random_kg(0)
    model, experts = an_inner(kind), [Frequency()]
    experts[0].fit(facts_of(kg), None, 0)
    whole = collect(model, experts, kg, 1.5, 7)
    blocks = collect(model, experts, kg, 1.5, 7, most_whole=4)
    assert torch.equal(whole.triples, blocks.triples)
    for name, one, other in zip(whole.lists._fields, whole.lists, blocks.lists, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6, err_msg=name)
    assert (whole.lists.gold >= 0).any()
    assert (whole.lists.gold < 0).any()


@pytest.mark.parametrize("most_whole", [N, 4])
def test_of_equal_candidates_those_of_lower_numbers_are_listed(most_whole: int) -> None:
    kg = random_kg(0)
    model, expert = an_inner(), Frequency()
    expert.fit(facts_of(kg), None, 0)
    for table in model.parameters():
        table.data.fill_(1.0)
    found = collect(model, [expert], kg, 1.0, 5, most_whole=most_whole)
    known = [*kg.train.tolist(), *kg.valid.tolist()]
    for i, (h, r, t) in enumerate(found.triples.tolist()):
        if i < len(kg.valid):
            answers = {b for a, q, b in known if (a, q) == (h, r)} - {t}
        else:
            answers = {a for a, q, b in known if (q, b) == (r, t)} - {h}
        left = [one for one in range(N) if one not in answers]
        assert found.candidates[i].tolist() == left[:5]
        assert float(found.lists.rank[i]) == 1 + (len(left) - 1) / 2
    assert found.lists.lengths.tolist() == [5] * 2 * len(kg.valid)
