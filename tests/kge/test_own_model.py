"""A model from outside the package: one class and what its YAML would say, and it trains like any other."""

import dataclasses

import pytest
import torch
from torch import Tensor

from mohone.core.config import build
from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.kge.base import KGEModel, Query, normal_table
from mohone.training import KvsAll, NegativeSampling, Objective, OneVsAll
from tests.helpers.training import settings, train


class Saturating(KGEModel):
    """TransE with a distance in which no number counts for more than 1."""

    def __init__(self, n_entities: int, n_relations: int, dim: int = 100, reciprocal: bool = False) -> None:
        super().__init__(n_entities, n_relations, dim, reciprocal)
        self.entity = normal_table(n_entities, dim, 1.0)
        self.relation = normal_table(self.n_relation_rows, dim, 1.0)

    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        return Query(head, relation, self.lookup(self.entity, head) + self.lookup(self.relation, relation))

    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        return Query(tail, relation, self.lookup(self.entity, tail) - self.lookup(self.relation, relation))

    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        return -torch.tanh(query.vectors[:, None] - self.lookup(self.entity, candidates)).square().sum(2)

    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        return -torch.tanh(query.vectors - self.lookup(self.entity, candidates)).square().sum(1)

    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        return -torch.tanh(self.entity[head] + self.relation[relation] - self.entity[tail]).square().sum(1)


NODE = {"_target_": f"{__name__}.Saturating", "_partial_": True, "dim": 8, "reciprocal": True}


@pytest.mark.parametrize("objective", [NegativeSampling(3, n3=0.1), OneVsAll(l2=0.1), KvsAll(dura=0.1)])
def test_it_is_built_and_trained(umls: KnowledgeGraph, objective: Objective) -> None:
    few = dataclasses.replace(umls, train=umls.train[::10])
    torch.manual_seed(0)
    model: KGEModel = build("kge_model", NODE)(n_entities=umls.n_entities, n_relations=umls.n_relations)
    before = [table.detach().clone() for table in model.parameters()]
    train(few, model, objective, settings(max_epochs=1))
    assert not any(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))


def test_its_keys_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"`kge_model\.norm` must be one of n_entities, n_relations, dim, "):
        build("kge_model", {**NODE, "norm": 2})
