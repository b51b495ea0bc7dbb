"""Small graphs that many tests use, and the settings that keep tests quick and quiet."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from mohone.core.runtime import quiet_lightning
from mohone.data import KnowledgeGraph, PackagedDataset
from mohone.data.knowledge_graph import build_knowledge_graph
from mohone.data.reading import TripleFile
from mohone.graph.network import Network

settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
settings.load_profile("quick")
quiet_lightning()

BASE = {
    "train": ["a r b", "b r c", "c r d", "d s a", "a s c", "b s d"],
    "valid": ["a r c"],
    "test": ["b r d"],
}


@pytest.fixture(scope="session", autouse=True)
def _few_threads() -> None:
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(min(2, os.cpu_count() or 1))


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


def write_folder(folder: Path, splits: dict[str, list[str]]) -> Path:
    """Write splits given as lines with blanks between the fields."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, lines in splits.items():
        text = "".join(line.replace(" ", "\t") + "\n" for line in lines)
        (folder / f"{split}.txt").write_text(text, encoding="utf-8")
    return folder


def kg_of(splits: dict[str, list[str]]) -> KnowledgeGraph:
    """A data set of splits given as lines with blanks between the fields."""
    files = {
        split: TripleFile([tuple(line.split(" ")) for line in lines], 0)  # type: ignore[misc]
        for split, lines in splits.items()
    }
    return build_knowledge_graph("base", files)


def network_of(n_nodes: int, *edges: tuple[int, int]) -> Network:
    """A graph of these edges."""
    triples = torch.tensor([(a, 0, b) for a, b in edges], dtype=torch.int64).reshape(-1, 3)
    return Network.from_triples(triples, n_nodes)
