"""Data sets from memory are written so that they are read again as they were."""

from pathlib import Path

import pytest
import torch

from mohone.api.data import keep, node_of
from mohone.configuration.compose import compose_plain
from mohone.core.config import build
from mohone.data import KnowledgeGraph, from_triples

ODD = [("\ufeffa", "r", "b\r"), (" a", "r", "b "), ("head", "relation", "tail"), ("0.5", "#", "null")]


def again(kg: KnowledgeGraph, folder: Path) -> KnowledgeGraph:
    node = node_of(kg, folder, compose_plain(["dataset=folder"])["dataset"])
    keep(kg, node)
    keep(kg, node)  # It is there.
    found: KnowledgeGraph = build("dataset", node).load()
    return found


@pytest.mark.parametrize("n", range(1, len(ODD) + 1))
def test_names_stay_as_they_are(n: int, tmp_path: Path) -> None:
    kg = from_triples(ODD[-n:], valid=ODD[-n:], test=ODD[-n:], name="odd")
    found = again(kg, tmp_path)
    assert (found.name, found.fingerprint) == ("odd", kg.fingerprint)
    assert found.entities.names == kg.entities.names
    assert found.relations.names == kg.relations.names


def test_weights_stay_with_their_triples(umls: KnowledgeGraph, tmp_path: Path) -> None:
    weights = torch.rand(len(umls.train), generator=torch.Generator().manual_seed(0)) + 0.01
    kg = umls.weighted(weights)
    found = again(kg, tmp_path)
    assert found.fingerprint == kg.fingerprint
    assert found.weights is not None
    assert torch.equal(found.weights, weights)
    assert torch.equal(found.train, kg.train)
