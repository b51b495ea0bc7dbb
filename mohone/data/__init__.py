"""Files of triples in, tensors out; nothing of models."""

from mohone.data.datasets import FolderDataset, PackagedDataset, PublishedDataset
from mohone.data.index import GroupIndex
from mohone.data.knowledge_graph import SIDES, KnowledgeGraph, answer_column, query_keys
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
]
