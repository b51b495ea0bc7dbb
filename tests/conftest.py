"""Small graphs that many tests use, and the settings that keep tests quick and quiet."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from mohone.core.nearest import nearest_neighbors
from mohone.core.runtime import quiet_lightning
from mohone.data import KnowledgeGraph, PackagedDataset
from mohone.graph.network import Network
from tests.helpers.graphs import BASE, kg_of, write_folder

settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
settings.load_profile("quick")
quiet_lightning()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first, so that none of them ends alone while other processes have nothing left."""
    items.sort(key=lambda item: "slow" not in item.path.parts)


@pytest.fixture(scope="session", autouse=True)
def _few_threads() -> None:
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(min(2, os.cpu_count() or 1))


@pytest.fixture(autouse=True)
def _own_log_level() -> Iterator[None]:
    """What a command of one test says of the log, none of another hears."""
    yield
    logging.getLogger("mohone").setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def umls() -> KnowledgeGraph:
    return PackagedDataset("umls").load()


@pytest.fixture(scope="session")
def umls_network(umls: KnowledgeGraph) -> Network:
    return Network.from_triples(umls.train, umls.n_entities)


@pytest.fixture
def base_folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "base", BASE)


@pytest.fixture
def base() -> KnowledgeGraph:
    return kg_of(BASE)


@pytest.fixture(scope="session")
def nearest(umls: KnowledgeGraph) -> torch.Tensor:
    """Six neighbours of each entity, as good as any."""
    torch.manual_seed(5)
    return nearest_neighbors(torch.randn(umls.n_entities, 8), 6).rows
