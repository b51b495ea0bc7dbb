"""What a training regime is: how triples become batches, and batches a loss. Shared by all regimes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sized
from typing import Any, Protocol

import torch
from torch import Tensor

from mohone.data import KnowledgeGraph
from mohone.errors import require_float
from mohone.kge.base import KGEModel, Query
from mohone.kge.losses import power_penalty


class Batches(Sized, Protocol):
    """An epoch's batches, as many as `len` says."""

    def __iter__(self) -> Iterator[Any]: ...


class Regime(ABC):
    """A way to train: which batches there are and what is minimised on each.

    Args:
        dropout: share of the numbers of a query's vector set to 0 while training.
        label_smoothing: share of each target spread evenly over the candidates.
        n3: weight of the cubed moduli of head, relation and tail, for each example and side.
        l2: weight of their squares.
    """

    def __init__(
        self, dropout: float = 0.0, label_smoothing: float = 0.0, n3: float = 0.0, l2: float = 0.0
    ) -> None:
        self.dropout = require_float("training.dropout", dropout, below=1)
        self.label_smoothing = require_float("training.label_smoothing", label_smoothing, below=1)
        self.penalties = {
            3: require_float("training.n3", n3),
            2: require_float("training.l2", l2),
        }

    @abstractmethod
    def batches(self, graph: KnowledgeGraph, batch_size: int, generator: torch.Generator) -> Batches:
        """One epoch over the train split, in an order drawn from `generator`."""

    @abstractmethod
    def loss(self, model: KGEModel, batch: Any) -> Tensor:
        """The mean loss of an example: a scalar."""

    def drop(self, query: Query) -> Query:
        """The query with dropout on its vectors."""
        if not self.dropout:
            return query
        return query._replace(vectors=torch.dropout(query.vectors, self.dropout, train=True))

    def penalty(
        self, model: KGEModel, query: Query, weight: Tensor | None, answers: Tensor
    ) -> Tensor | float:
        """The regularisers of queries, each counted `weight` times, and of their answers: a sum."""
        total: Tensor | float = 0.0
        for order, factor in self.penalties.items():
            if factor:
                total = total + factor * (
                    power_penalty(model.entity_squares(query.entity), order, weight)
                    + power_penalty(model.relation_squares(query.relation), order, weight)
                    + power_penalty(model.entity_squares(answers), order)
                )
        return total
