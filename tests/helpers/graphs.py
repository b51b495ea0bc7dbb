"""Small data sets and networks."""

from __future__ import annotations

from pathlib import Path

import torch

from mohone.data import KnowledgeGraph
from mohone.data.knowledge_graph import build_knowledge_graph
from mohone.data.reading import TripleFile
from mohone.graph.network import Network

BASE = {
    "train": ["a r b", "b r c", "c r d", "d s a", "a s c", "b s d"],
    "valid": ["a r c"],
    "test": ["b r d"],
}


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
