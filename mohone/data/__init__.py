"""Files of triples in, tensors out; nothing of models."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mohone.data.datasets import FolderDataset, PackagedDataset, PublishedDataset
    from mohone.data.index import GroupIndex
    from mohone.data.knowledge_graph import SIDES, KnowledgeGraph, answer_column, query_keys, query_order
    from mohone.data.memory import from_triples

__all__ = [
    "SIDES",
    "FolderDataset",
    "GroupIndex",
    "KnowledgeGraph",
    "PackagedDataset",
    "PublishedDataset",
    "answer_column",
    "from_triples",
    "query_keys",
    "query_order",
]
_PLACES = {
    **dict.fromkeys(("FolderDataset", "PackagedDataset", "PublishedDataset"), "datasets"),
    **dict.fromkeys(
        ("SIDES", "KnowledgeGraph", "answer_column", "query_keys", "query_order"), "knowledge_graph"
    ),
    "GroupIndex": "index",
    "from_triples": "memory",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it first is: what only reads files needs no torch."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
