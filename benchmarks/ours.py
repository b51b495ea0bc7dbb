"""Mohone, as the benchmark of models calls it: data sets, models, objectives, batches and recipes by name.

What takes Lightning is in `training.py`: an evaluation needs none, and its memory is shown.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mohone.data import SIDES, FolderDataset, KnowledgeGraph, answer_column
from mohone.evaluation.chunks import chunks_of, queries_at_once
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
from mohone.kge.tables import make_gradients_dense
from mohone.training import NegativeSampling, Objective, OneVsAll, Training
from mohone.training.objective import Batches, Share
from mohone.training.queries import QueryBatch
from mohone.training.schedules import linear_decay
from mohone.training.triples import TripleBatch, TripleExamples

LEARNING_RATE = 3e-3
SHARED_NEGATIVES = 512  # The page's notes name it, and TransR's block.
_CLASSES: dict[str, type[KGEModel]] = {
    model.__name__.lower(): model
    for model in (TransE, TransH, TransR, TransD, RESCAL, DistMult, ComplEx, Analogy)
}
_RELATION_BLOCK = {"transr": 32}  # As in its recipe.


def load_kg(spec: dict[str, Any]) -> KnowledgeGraph:
    """The data set."""
    folder = Path(spec["data_dir"]) / spec["dataset_folder"]
    return FolderDataset(spec["dataset_folder"], str(folder)).load()


def make_model(spec: dict[str, Any], kg: KnowledgeGraph) -> KGEModel:
    """The model with first weights."""
    return _CLASSES[spec["model"]](kg.n_entities, kg.n_relations, spec["dim"])


def make_objective(spec: dict[str, Any]) -> Objective:
    """The objective as its defaults are."""
    block = _RELATION_BLOCK.get(spec["model"], 1)
    if spec["objective"] == "negative_sampling":
        return NegativeSampling(n_negatives=SHARED_NEGATIVES, loss="softmax", relation_block=block)
    return OneVsAll(relation_block=block)


def recipe(spec: dict[str, Any], kg: KnowledgeGraph) -> tuple[KGEModel, Training]:
    """Model and training, of `conf/recipe` for FB15k-237, but for how long."""
    if spec["objective"] == "negative_sampling":
        objective = NegativeSampling(inverse_temperature=5.0, dropout=0.1)
        return make_model(spec, kg), Training(objective, partial(torch.optim.Adam, lr=3e-3), linear_decay)
    model = ComplEx(kg.n_entities, kg.n_relations, spec["dim"], reciprocal=True)
    return model, Training(OneVsAll(n3=0.05), partial(torch.optim.Adagrad, lr=0.3), linear_decay)


def first_epoch(kg: KnowledgeGraph, objective: Objective, batch_size: int) -> tuple[int, Batches, float]:
    """The number of examples of an epoch, its batches in the order of seed 0, the seconds to lay them out."""
    examples: Any = objective.examples(kg)
    n = len(examples.triples if isinstance(examples, TripleExamples) else examples)
    start = time.perf_counter()
    batches = examples.epoch(batch_size, torch.Generator().manual_seed(0), Share())
    return n, batches, time.perf_counter() - start


def queries_of(batch: QueryBatch) -> list[int]:
    """How many queries a batch of `one_vs_all` has on each side, where it has any."""
    return [len(side.entity) for side in (batch.tail, batch.head) if len(side.entity)]


def count_batch(batch: TripleBatch | QueryBatch, n_entities: int) -> tuple[int, int]:
    """The examples of a batch, and the (query, candidate) scores that enter its loss."""
    if isinstance(batch, QueryBatch):
        n_queries = sum(queries_of(batch))
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


def plain_step(model: KGEModel, objective: Objective, optimizer: torch.optim.Optimizer, batch: Any) -> None:
    """A step as Lightning runs it for us, written out."""
    with model.sparse_gradients():
        loss = objective.loss(model, batch)
    optimizer.zero_grad()
    loss.backward()
    make_gradients_dense(model)
    optimizer.step()
    model.constrain()


def chunk_sizes(kg: KnowledgeGraph) -> list[int]:
    """How many queries are scored at a time when the test split is ranked."""
    cpu, queries = torch.device("cpu"), torch.arange(2 * len(kg.test))
    chunks = chunks_of(kg.test, queries, queries_at_once(kg.n_entities, cpu), cpu)
    return [len(chunk.triples) for chunk in chunks]
