"""Entities that came after the training: what is learned for them, and what stays."""

import dataclasses

import pytest
import torch

from mohone.core.errors import DataError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evidence.model import EvidenceModel
from mohone.kge import ComplEx, KGEModel, TransD, TransE, TransR
from mohone.kge.query_side import QuerySide
from mohone.training import KvsAll, NegativeSampling, Objective, OneVsAll
from mohone.training.newcomers import Newcomers, add_entities
from mohone.training.objective import Share

NEW = [
    ("a_new_virus", "affects", "cell"),
    ("a_new_virus", "isa", "virus"),
    ("zzz", "affects", "a_new_virus"),
    ("virus", "affects", "cell"),
]


def models(kg: KnowledgeGraph) -> list[KGEModel]:
    torch.manual_seed(0)
    sizes = kg.n_entities, kg.n_relations
    return [
        TransE(*sizes, 8, max_norm=0.5),
        TransD(*sizes, 8),
        TransR(*sizes, 8),
        ComplEx(*sizes, 8, init_std=0.3, reciprocal=True),
        QuerySide(TransE(*sizes, 8)),
    ]


OBJECTIVES: list[Objective] = [NegativeSampling(16, dropout=0.1), OneVsAll(n3=0.01), KvsAll()]


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda each: type(each).__name__)
def test_known_ones_stay_and_new_ones_learn_their_triples(
    umls: KnowledgeGraph, number: int, objective: Objective
) -> None:
    model = models(umls)[number]
    before = {name: table.clone() for name, table in model.state_dict().items()}
    more, kg = add_entities(model, umls, NEW, objective, Newcomers(epochs=30))
    start, _ = add_entities(model, umls, NEW, objective, Newcomers(epochs=0))
    assert all(torch.equal(table, before[name]) for name, table in model.state_dict().items())
    assert set(kg.entities.names) - set(umls.entities.names) == {"a_new_virus", "zzz"}
    old = torch.tensor([kg.entities.ids[name] for name in umls.entities.names])
    new = torch.tensor([kg.entities.ids[name] for name in ("a_new_virus", "zzz")])
    for name, table in more.state_dict().items():
        is_entity = len(table) == umls.n_entities + 2
        assert torch.equal(table[old] if is_entity else table, before[name])
        assert not is_entity or not torch.equal(table[new], start.state_dict()[name][new])
    assert [each.requires_grad for each in more.parameters()] == [
        each.requires_grad for each in model.parameters()
    ]
    assert loss(more, kg, objective) < loss(start, kg, objective)
    assert len(kg.train) == len(umls.train) + len({*map(tuple, NEW)} - {*named(umls.train, umls)})
    again, _ = add_entities(model, umls, NEW[::-1], objective, Newcomers(epochs=30))
    for name, table in more.state_dict().items():
        assert torch.equal(table, again.state_dict()[name])


def loss(model: KGEModel, kg: KnowledgeGraph, objective: Objective) -> float:
    """Of the triples of new entities, by the same draws for all."""
    torch.manual_seed(1)
    new = [kg.entities.ids[name] for name in ("a_new_virus", "zzz")]
    own = kg.train[torch.isin(kg.train[:, [0, 2]], torch.tensor(new)).any(1)]
    examples = objective.examples(dataclasses.replace(kg, train=own))
    (batch,) = examples.epoch(99, torch.Generator().manual_seed(0), Share())
    return float(objective.loss(model, batch))


def named(triples: torch.Tensor, kg: KnowledgeGraph) -> list[tuple[str, str, str]]:
    e, r = kg.entities.names, kg.relations.names
    return [(e[a], r[b], e[c]) for a, b, c in triples.tolist()]


def test_a_start_is_the_mean_of_the_known_ones_it_is_linked_to(umls: KnowledgeGraph) -> None:
    model = models(umls)[0]
    more, kg = add_entities(model, umls, NEW, OBJECTIVES[0], Newcomers(epochs=0))
    old, new, ids = model.entity_vectors, more.entity_vectors, umls.entities.ids
    mean = (old[ids["cell"]] + old[ids["virus"]]) / 2
    assert torch.allclose(new[kg.entities.ids["a_new_virus"]], mean)
    assert torch.allclose(new[kg.entities.ids["zzz"]], old.mean(0))  # Linked to a new one alone.


def test_known_triples_are_ranked_among_known_ones_as_before(umls: KnowledgeGraph) -> None:
    model = models(umls)[3]
    more, kg = add_entities(model, umls, NEW, OBJECTIVES[1], Newcomers(epochs=5))
    before = LinkPrediction(umls, "valid", ("filtered",)).ranks(model)["filtered"]
    after = LinkPrediction(kg, "valid", ("filtered",)).ranks(more)["filtered"]
    names = {tuple(t): i for i, t in enumerate(named(umls.valid, umls))}
    order = torch.tensor([names[t] for t in named(kg.valid, kg)])
    both = torch.cat([order, order + len(order)])
    further = after.optimistic - before[both].optimistic
    assert ((further >= 0) & (further <= 2)).all()


def test_what_cannot_be_added_is_refused(umls: KnowledgeGraph) -> None:
    model = models(umls)[0]
    for given, triples, sentence in (
        (EvidenceModel(model, []), NEW, "take its baseline"),
        (model, NEW[3:], "must name a new entity"),
        (model, [("new", "loves", "virus")], "the relation must be a name of the data set, but 'loves'"),
    ):
        with pytest.raises(DataError, match=sentence):
            add_entities(given, umls, triples, OBJECTIVES[0])


def test_weights_stay_with_their_triples_and_new_ones_have_their_mean(umls: KnowledgeGraph) -> None:
    weights = torch.rand(len(umls.train), generator=torch.Generator().manual_seed(0)) + 0.5
    weighted = umls.weighted(weights)
    model = models(umls)[0]
    more, kg = add_entities(model, weighted, NEW, OBJECTIVES[0], Newcomers(epochs=3))
    assert kg.weights is not None
    before = dict(zip(named(umls.train, umls), weights.tolist(), strict=True))
    for triple, weight in zip(named(kg.train, kg), kg.weights.tolist(), strict=True):
        assert weight == pytest.approx(before.get(triple, float(weights.mean())), rel=1e-6)
    plain, _ = add_entities(model, umls, NEW, OBJECTIVES[0], Newcomers(epochs=3))  # All new ones count alike.
    assert torch.equal(more.entity_vectors, plain.entity_vectors)
    assert (kg.origin, kg.fingerprints) == ((), {})


def test_a_random_start_is_drawn_table_after_table(umls: KnowledgeGraph) -> None:
    model = TransD(umls.n_entities, umls.n_relations, 8)
    more, kg = add_entities(model, umls, NEW, OBJECTIVES[0], Newcomers(epochs=0, start="random", seed=3))
    new = sorted(kg.entities.ids[name] for name in ("a_new_virus", "zzz"))
    generator = torch.Generator().manual_seed(3)
    assert len(model.entity_tables) > 1
    for name in model.entity_tables:
        table = model.get_parameter(name).detach()
        expected = table.mean() + table.std() * torch.randn(2, *table.shape[1:], generator=generator)
        assert torch.equal(more.get_parameter(name)[new], expected)
