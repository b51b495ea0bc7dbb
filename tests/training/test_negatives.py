"""What negative sampling compares triples with."""

from collections import Counter

import pytest
import torch

from mohone.data import KnowledgeGraph
from mohone.kge import (
    KGEModel,
    TransE,
)
from mohone.training import KvsAll, NegativeSampling
from tests.helpers.training import epoch


def test_negative_sampling_by_a_loop(base: KnowledgeGraph) -> None:
    torch.manual_seed(0)
    model = TransE(4, 2, 3)
    objective = NegativeSampling(n_negatives=5, inverse_temperature=2.0, l2=0.3)
    batch = next(iter(epoch(objective, base, 4)))
    total = 0.0
    for side in (2, 0):
        answers = batch.tails[:, side]
        for i, triple in enumerate(batch.tails.tolist()):
            scores, gold = [], torch.zeros(())
            for j, candidate in enumerate([*answers.tolist(), *batch.negatives.tolist()]):
                if candidate == triple[side] and j != i:
                    continue
                asked = list(triple)
                asked[side] = candidate
                scores.append(2.0 * model.score_triples(*torch.tensor(asked)[:, None])[0])
                gold = scores[-1] if j == i else gold
            total += float(torch.logsumexp(torch.stack(scores), 0) - gold)
            h, r, t = triple
            total += 0.3 * float(
                sum(v.square().sum() for v in (model.entity[h], model.relation[r], model.entity[t]))
            )
    assert float(objective.loss(model, batch)) == pytest.approx(total / 8, rel=1e-4)


@pytest.mark.parametrize("corruption", ["uniform", "bernoulli"])
def test_one_side_of_each_triple_is_replaced(umls: KnowledgeGraph, corruption: str) -> None:
    drawn = list(epoch(NegativeSampling(n_negatives=3, corruption=corruption), umls, 101))
    heads = Counter(tuple(t) for batch in drawn for t in batch.heads.tolist())
    tails = Counter(tuple(t) for batch in drawn for t in batch.tails.tolist())
    assert heads + tails == Counter(map(tuple, umls.train.tolist()))
    share = []
    for r in range(umls.n_relations):
        of = [(h, t) for h, q, t in umls.train.tolist() if q == r]
        tph, hpt = len(of) / max(1, len({h for h, _ in of})), len(of) / max(1, len({t for _, t in of}))
        share.append(len(of) * (tph / (tph + hpt) if corruption == "bernoulli" else 0.5) if of else 0.0)
    # Within four standard deviations of what the coins should give.
    assert sum(heads.values()) == pytest.approx(sum(share), abs=4 * len(umls.train) ** 0.5 / 2)


@pytest.mark.parametrize("in_batch", [True, False])
@pytest.mark.parametrize("filtered", [True, False])
def test_what_is_no_negative(base: KnowledgeGraph, in_batch: bool, filtered: bool) -> None:
    objective = NegativeSampling(n_negatives=6, in_batch=in_batch, filtered=filtered, loss="logistic")
    batch = next(iter(epoch(objective, base, 6)))
    torch.manual_seed(0)
    model = TransE(4, 2, 3)
    known = {tuple(t) for t in base.train.tolist()}
    total = 0.0
    for column in (2, 0):
        answers = batch.tails[:, column].tolist()
        for i, triple in enumerate(batch.tails.tolist()):
            negatives = []
            for candidate in [
                *(answers[:i] + answers[i + 1 :] if in_batch else []),
                *batch.negatives.tolist(),
            ]:
                asked = list(triple)
                asked[column] = candidate
                if candidate != triple[column] and not (filtered and tuple(asked) in known):
                    negatives.append(float(model.score_triples(*torch.tensor(asked)[:, None])))
            gold = model.score_triples(*torch.tensor(triple)[:, None])
            total += float(torch.nn.functional.softplus(-gold))
            values = torch.nn.functional.softplus(torch.tensor(negatives))
            total += float(values.mean()) if negatives else 0.0
    assert float(objective.loss(model, batch)) == pytest.approx(total / 12, rel=1e-5)


def test_an_empty_side_costs_nothing(base: KnowledgeGraph) -> None:
    model: KGEModel = TransE(4, 2, 3)
    objective = KvsAll(relation_block=50)
    for batch in epoch(objective, base, 1):
        assert sorted([len(batch.tail.entity), len(batch.head.entity)]) == [0, 1]
        assert torch.isfinite(objective.loss(model, batch))
