"""What a training objective is: how triples become batches, and batches a loss. Shared by all objectives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from mohone.core.errors import MOST, require_choice, require_float, require_int
from mohone.data import KnowledgeGraph
from mohone.kge.base import KGEModel, Query
from mohone.training.losses import answer_softmax, power_penalty

DURA_ENDS = ("one", "both")
_CPU = torch.device("cpu")


@dataclass(frozen=True)
class Share:
    """Where batches go: to which device, and which part of each to this of several processes."""

    device: torch.device = _CPU
    rank: int = 0
    world: int = 1


class Batches(Sized, Protocol):
    """An epoch's batches, as many as `len` says."""

    def __iter__(self) -> Iterator[Any]: ...


class Examples(Protocol):
    """What a objective makes of a train split, once, and of which it makes every epoch."""

    def n_batches(self, batch_size: int) -> int:
        """How many batches an epoch has."""
        ...

    def epoch(self, batch_size: int, generator: torch.Generator, share: Share) -> Batches:
        """One pass over all examples, in an order drawn from `generator`."""
        ...


class Objective(ABC):
    """A way to train: which batches there are and what is minimised on each.

    Args:
        inverse_temperature: factor of the scores in a softmax (also that of `self_adversarial`'s weights);
            distances want more than 1.
        dropout: share of the numbers of a query's vector set to 0 while training.
        label_smoothing: share of each target spread evenly over the candidates.
        n3: weight of the cubed moduli of head, relation and tail, for each example and side.
        l2: weight of their squares.
        dura: weight of the squares of the query's vector and of the answer's [Zhang et al., NeurIPS 2020].
        dura_ends: with reciprocal relations, `both`: also those of the known entity and of the query that
            asks for it from the answer, by the same row. Without, the two directions are each other's.
        relation_weight: weight of a second loss, the cross-entropy of each example's relation given both of
            its entities against all relations [Chen et al., AKBC 2021].
        network_weight: weight of another one, by which entity vectors predict the network's neighbourhoods;
            the job adds it (`mohone.training.network_loss`).
        relation_block: examples of one relation that stay together: a batch then has few relations, which
            makes models with a matrix for each relation quick; 1: fully shuffled; None: as the model likes.
            Long blocks learn worse.
    """

    def __init__(
        self,
        inverse_temperature: float = 1.0,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        n3: float = 0.0,
        l2: float = 0.0,
        dura: float = 0.0,
        dura_ends: str = "one",
        relation_weight: float = 0.0,
        network_weight: float = 0.0,
        relation_block: int | None = None,
    ) -> None:
        self.inverse_temperature = require_float(
            "training.inverse_temperature", inverse_temperature, strict=True
        )
        self.dropout = require_float("training.dropout", dropout, below=1)
        self.label_smoothing = require_float("training.label_smoothing", label_smoothing, below=1)
        self.penalties = {
            3: require_float("training.n3", n3),
            2: require_float("training.l2", l2),
        }
        self.dura = require_float("training.dura", dura)
        self.dura_ends = require_choice("training.dura_ends", dura_ends, DURA_ENDS)
        self.relation_weight = require_float("training.relation_weight", relation_weight)
        self.network_weight = require_float("training.network_weight", network_weight)
        if relation_block is not None:
            require_int("training.relation_block", relation_block, 1, MOST)
        self.relation_block = relation_block

    @property
    def asks_evenly(self) -> bool:
        """Does a step look up rows equally often whatever its batch, as rows in other processes want it?"""
        return False

    @abstractmethod
    def examples(self, kg: KnowledgeGraph, relation_block: int = 1) -> Examples:
        """The train split as this objective uses it.

        Args:
            kg: the data set.
            relation_block: what the model likes, unless the objective has a `relation_block` of its own.
        """

    @abstractmethod
    def loss(self, model: KGEModel, batch: Any) -> Tensor:
        """The mean loss of an example: a scalar."""

    def drop(self, query: Query) -> Query:
        """The query with dropout on its vectors."""
        if not self.dropout:
            return query
        return query._replace(vectors=torch.dropout(query.vectors, self.dropout, train=True))

    def relation_loss(
        self, model: KGEModel, examples: Query, answers: Tensor, heads: bool, weight: Tensor | None = None
    ) -> Tensor | float:
        """`relation_weight` times the summed loss of the relations between known entities and answers.

        Args:
            model: what is trained.
            examples: entity and relation of each answer; their vectors play no part.
            answers: `(n,)`.
            heads: were heads asked for?
            weight: `(n,)` of each; None: all 1.
        """
        if not self.relation_weight:
            return 0.0
        ends = (answers, examples.entity) if heads and not model.reciprocal else (examples.entity, answers)
        each = torch.ones_like(answers, dtype=torch.float32) if weight is None else weight
        return self.relation_weight * answer_softmax(
            model.score_relations(*ends),
            torch.arange(len(answers), device=answers.device),
            examples.relation,
            each,
            each,
            inverse_temperature=self.inverse_temperature,
        )

    def penalty(
        self,
        model: KGEModel,
        query: Query,
        weight: Tensor | None,
        answers: Tensor,
        answer_weight: Tensor | None = None,
        rows: Tensor | None = None,
    ) -> Tensor | float:
        """The regularisers of queries and of their answers, each counted by its weight (None: 1): a sum.

        Args:
            model: what is trained.
            query: `(batch,)` of them.
            weight: `(batch,)`.
            answers: `(n,)` entities.
            answer_weight: `(n,)`.
            rows: `(n,)` the query of each answer; None: they are one for one.
        """
        total: Tensor | float = 0.0
        for order, factor in self.penalties.items():
            if factor:
                total = total + factor * (
                    power_penalty(model.entity_squares(query.entity), order, weight)
                    + _relation_penalty(model, query.relation, order, weight)
                    + power_penalty(model.entity_squares(answers), order, answer_weight)
                )
        if self.dura:
            total = total + self.dura * (
                power_penalty(query.vectors.square(), 2, weight)
                + power_penalty(model.entity_squares(answers), 2, answer_weight)
            )
            if self.dura_ends == "both" and model.reciprocal:
                relation = query.relation if rows is None else query.relation[rows]
                back = model.plain_head_query(relation, answers)
                total = total + self.dura * (
                    power_penalty(model.entity_squares(query.entity), 2, weight)
                    + power_penalty(back.vectors.square(), 2, answer_weight)
                )
        return total


def _relation_penalty(model: KGEModel, relation: Tensor, order: int, weight: Tensor | None) -> Tensor:
    """`power_penalty` of a batch's relations: where they are few, each of them once, times its weight.

    Models with a matrix for each relation would else spend more on copies of them than on all scores.
    """
    n_rows = model.n_relation_rows
    if n_rows > len(relation):
        return power_penalty(model.relation_squares(relation), order, weight)
    squares = model.relation_squares()
    each = squares.new_ones(len(relation)) if weight is None else weight.to(squares.dtype)
    return power_penalty(squares, order, squares.new_zeros(n_rows).index_add(0, relation, each))


def shuffled(relation: Tensor, run: int, generator: torch.Generator) -> Tensor:
    """A random order of examples.

    Args:
        relation: `(n,)` of each example.
        run: so many examples of one relation stay together, while there are as many; which ones, and the
            order of the runs, are random.

    Returns:
        `(n,)` a permutation.

    Example:
        >>> order = shuffled(torch.tensor([0, 1, 0, 1]), run=2, generator=torch.Generator().manual_seed(0))
        >>> sorted(order[:2].tolist()), sorted(order[2:].tolist())  # Two of a relation stay together.
        ([0, 2], [1, 3])
    """
    order = torch.randperm(len(relation), generator=generator)
    if run == 1:
        return order
    order = order[relation[order].argsort(stable=True)]
    counts = torch.bincount(relation)
    n_runs = (counts + run - 1) // run
    place = torch.arange(len(order)) - (counts.cumsum(0) - counts).repeat_interleave(counts)
    number = (n_runs.cumsum(0) - n_runs).repeat_interleave(counts) + place // run
    turn = torch.randperm(int(n_runs.sum()), generator=generator)
    return order[turn[number].argsort(stable=True)]
