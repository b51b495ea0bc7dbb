"""Validation by a sample: what is drawn is fixed, and what is told of the whole is right."""

from __future__ import annotations

import math

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.ranks import Ranks
from mohone.evaluation.sample import Sample, estimate
from mohone.kge import TransE
from tests.evaluation.test_ranks import as_tuples, loop_rank


def a_model(kg: KnowledgeGraph) -> TransE:
    torch.manual_seed(1)
    return TransE(kg.n_entities, kg.n_relations, 8)


@pytest.mark.parametrize("block", [None, 50])
def test_the_queries_that_are_drawn_have_the_ranks_of_all(umls: KnowledgeGraph, block: int | None) -> None:
    model, sample = a_model(umls), Sample(101, seed=3)
    whole = LinkPrediction(umls, "valid").ranks(model)
    part = LinkPrediction(umls, "valid", block=block, sample=sample).ranks(model)
    places = sample.draw_queries(2 * len(umls.valid))
    assert len(places) == len(places.unique()) == 101
    assert 0 < (places < len(umls.valid)).sum() < 101
    for setting, ranks in part.items():
        torch.testing.assert_close(ranks.mean, whole[setting].mean[places])


def test_a_sample_is_fixed_by_its_seed(umls: KnowledgeGraph) -> None:
    n = 2 * len(umls.valid)
    assert torch.equal(Sample(50, seed=1).draw_queries(n), Sample(50, seed=1).draw_queries(n))
    assert not torch.equal(Sample(50, seed=1).draw_queries(n), Sample(50, seed=2).draw_queries(n))
    for every in (None, n, n + 1):
        assert torch.equal(Sample(every).draw_queries(n), torch.arange(n))
        assert not LinkPrediction(umls, "valid", ("filtered",), sample=Sample(every)).is_sampled
    assert LinkPrediction(umls, "valid", ("filtered",), sample=Sample(n - 1)).is_sampled


def test_ranks_among_drawn_candidates_are_stretched_to_all(umls: KnowledgeGraph) -> None:
    model, sample = a_model(umls).double(), Sample(60, 40, seed=2)
    prediction = LinkPrediction(umls, "valid", ("filtered",), chunk=7, sample=sample)
    found = as_tuples(prediction.ranks(model)["filtered"])
    drawn = set(sample.draw_entities(umls.n_entities).tolist())
    assert len(drawn) == 40
    known = {tuple(triple) for triple in umls.triples("train", "valid").tolist()}
    every = set(range(umls.n_entities))
    for place, own in zip(sample.draw_queries(2 * len(umls.valid)).tolist(), found, strict=True):
        triple = umls.valid[place % len(umls.valid)].tolist()
        h, r, t = triple
        with torch.no_grad():
            if place < len(umls.valid):
                scores = model.score_tails(torch.tensor([h]), torch.tensor([r]))[0]
                answer, right = t, {e for e in every if (h, r, e) in known}
            else:
                scores = model.score_heads(torch.tensor([r]), torch.tensor([t]))[0]
                answer, right = h, {e for e in every if (e, r, t) in known}
        low, high, n_drawn = loop_rank(scores.tolist(), answer, drawn, right)
        n = len(every - right) + 1
        stretch = (n - 1) / (n_drawn - 1)
        assert own == (1 + round((low - 1) * stretch), 1 + round((high - 1) * stretch), n)


def test_all_candidates_drawn_are_no_estimate(umls: KnowledgeGraph) -> None:
    model = a_model(umls).double()
    whole, part = (
        LinkPrediction(umls, "valid", ("filtered",), sample=Sample(None, n)).ranks(model)["filtered"]
        for n in (None, umls.n_entities)
    )
    assert as_tuples(whole) == as_tuples(part)
    with pytest.raises(ConfigError, match="must be filtered alone"):
        LinkPrediction(umls, "valid", sample=Sample(None, 5))


def test_the_interval_is_that_of_a_mean_of_draws_without_return() -> None:
    ranks = torch.tensor([1, 3, 7, 2, 50])
    found = estimate(Ranks(ranks, ranks, ranks), of=20)
    values = [1 / rank for rank in ranks.tolist()]
    mean = sum(values) / 5
    variance = sum((value - mean) ** 2 for value in values) / 4
    margin = 1.959964 * math.sqrt(variance / 5 * (1 - 5 / 20))
    assert (found.n_queries, found.of) == (5, 20)
    assert found.mrr == pytest.approx(mean)
    assert (found.low, found.high) == (pytest.approx(mean - margin), pytest.approx(mean + margin))


def test_the_interval_holds_what_all_queries_give_nineteen_times_of_twenty(umls: KnowledgeGraph) -> None:
    ranks = LinkPrediction(umls, "valid", ("filtered",)).ranks(a_model(umls))["filtered"]
    n = len(ranks.mean)
    truth = estimate(ranks, n)
    assert truth.low == truth.mrr == truth.high
    held = 0
    for seed in range(400):
        found = estimate(ranks[Sample(n // 3, seed=seed).draw_queries(n)], n)
        held += found.low <= truth.mrr <= found.high
    assert 0.91 <= held / 400 <= 0.99
