"""What is measured, by name: data sets, our models, our objectives and their batches."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bench.plan import SHARED_NEGATIVES
from mohone.data import SIDES, FolderDataset, KnowledgeGraph, PackagedDataset, answer_column
from mohone.kge import (
    RESCAL,
    Analogy,
    ComplEx,
    DistMult,
    KGEModel,
    TransD,
    TransE,
    TransH,
    TransR,
)
from mohone.training import NegativeSampling, Objective, OneVsAll
from mohone.training.negative_sampling import TripleBatch, TripleExamples
from mohone.training.objective import Batches, Share
from mohone.training.queries import QueryBatch, QueryExamples

LEARNING_RATE = 3e-3
_CLASSES: dict[str, type[KGEModel]] = {
    "transe": TransE,
    "transh": TransH,
    "transr": TransR,
    "transd": TransD,
    "rescal": RESCAL,
    "distmult": DistMult,
    "complex": ComplEx,
    "analogy": Analogy,
}
_RELATION_RUN = {"transr": 32}


def load_kg(spec: dict[str, Any]) -> KnowledgeGraph:
    """The data set: one of the package, or a folder in the data folder."""
    if spec["dataset"]:
        return PackagedDataset(spec["dataset"]).load()
    folder = Path(spec["data_dir"]) / spec["dataset_folder"]
    return FolderDataset(spec["dataset_folder"], str(folder)).load()


def make_model(name: str, kg: KnowledgeGraph, dim: int) -> KGEModel:
    """A model with first weights."""
    return _CLASSES[name](kg.n_entities, kg.n_relations, dim)


def make_objective(name: str, model: str) -> Objective:
    """A objective as its defaults are; runs of one relation for TransR, as in its recipe."""
    run = _RELATION_RUN.get(model, 1)
    if name == "negative_sampling":
        return NegativeSampling(n_negatives=SHARED_NEGATIVES, loss="softmax", relation_block=run)
    return OneVsAll(relation_block=run)


def n_examples(examples: TripleExamples | QueryExamples) -> int:
    """Triples, or queries, of an epoch."""
    return len(examples.triples) if isinstance(examples, TripleExamples) else len(examples)


def count_batch(batch: TripleBatch | QueryBatch, n_entities: int) -> tuple[int, int]:
    """The examples of a batch, and the (query, candidate) scores that enter its loss."""
    if isinstance(batch, QueryBatch):
        n_queries = len(batch.tail.entity) + len(batch.head.entity)
        return n_queries, n_queries * n_entities
    answers = (
        triples[:, answer_column(side)]
        for side, triples in zip(SIDES, (batch.tails, batch.heads), strict=True)
    )
    return len(batch.tails), sum(shared_candidates(each, batch.negatives) for each in answers)


def shared_candidates(answers: Tensor, negatives: Tensor) -> int:
    """Scores of queries with shared candidates: all pairs, but those where an answer comes once more."""
    appearances = torch.bincount(torch.cat([answers, negatives]))
    again = appearances[answers] - 1
    return len(answers) * (len(answers) + len(negatives)) - int(again.sum())


def first_epoch(kg: KnowledgeGraph, objective: Objective, batch_size: int) -> tuple[int, Batches, float]:
    """The number of examples of an epoch, its batches in the order of seed 0, the seconds to lay them out."""
    examples: Any = objective.examples(kg)
    start = time.perf_counter()
    batches = examples.epoch(batch_size, torch.Generator().manual_seed(0), Share())
    return n_examples(examples), batches, time.perf_counter() - start
