"""Scores of all entities as answers, at once or a block at a time: in full precision, and finite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from mohone.core.errors import TrainingError
from mohone.core.latest import Latest
from mohone.kge.base import BlockScores, KGEModel


class Scorer(Protocol):
    """What can be evaluated: scores of all entities as tails or as heads, higher is better.

    It may have a `device`, where queries are to be; else they are on the CPU.
    """

    def score_tails(self, head: Tensor, relation: Tensor) -> Tensor:
        """`(batch, n_entities)`."""
        ...

    def score_heads(self, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch, n_entities)`."""
        ...


def device_of(model: Scorer) -> torch.device:
    """Where its queries are to be."""
    device: torch.device = getattr(model, "device", torch.device("cpu"))
    return device


def score_all(model: Scorer, side: str, triples: Tensor) -> Tensor:
    """The scores of all entities as answers on `side`, in full precision: `(n, n_entities)`.

    Args:
        model: what gives the scores.
        side: `tail` or `head`.
        triples: `(n, 3)`; their answers play no part.

    Raises:
        TrainingError: if a score is not finite.
    """
    head, relation, tail = triples.T
    # In full precision also where training is not: all figures of a job must be comparable.
    with torch.autocast(triples.device.type, enabled=False):
        scores = model.score_tails(head, relation) if side == "tail" else model.score_heads(relation, tail)
    return _finite(scores, side, triples)


def block_scorer(model: KGEModel, side: str, triples: Tensor) -> BlockScores:
    """What scores one block of entities after the other as answers on `side`, like `score_all`.

    The vectors of the queries are formed once, now.

    Args:
        model: what gives the scores.
        side: `tail` or `head`.
        triples: `(n, 3)`; their answers play no part.
    """
    return _scorer(model, side, triples)


def block_scorers(models: Sequence[KGEModel], side: str, triples: Tensor) -> list[BlockScores]:
    """The same of several models, that are asked for each block one after the other.

    What some of them add to (`KGEModel.adds_to`) is scored once for all of them.
    """
    if not add_to_the_same(models):
        return [_scorer(model, side, triples) for model in models]
    bases = {id(base): base for base in (model.adds_to or model for model in models)}
    shared: dict[int, BlockScores]
    shared = {key: partial(Latest[Tensor](), _scorer(base, side, triples)) for key, base in bases.items()}
    return [_scorer(model, side, triples, shared[id(model.adds_to or model)]) for model in models]


def add_to_the_same(models: Sequence[KGEModel]) -> bool:
    """Is there a model that several of them add to, or are?"""
    return len({id(model.adds_to or model) for model in models}) < len(models)


def _scorer(model: KGEModel, side: str, triples: Tensor, upon: BlockScores | None = None) -> BlockScores:
    """Of one model; with `upon`, from the scores of what it adds to, or else those themselves, copied."""
    if upon is not None and model.adds_to is None:
        return lambda candidates: upon(candidates).clone()
    head, relation, tail = triples.T
    with torch.autocast(triples.device.type, enabled=False):
        query = model.tail_query(head, relation) if side == "tail" else model.head_query(relation, tail)
        score = model.block_scores(query) if upon is None else model.block_scores_upon(query, upon)

    def scored(candidates: Tensor) -> Tensor:
        with torch.autocast(triples.device.type, enabled=False):
            return _finite(score(candidates), side, triples)

    return scored


def _finite(scores: Tensor, side: str, triples: Tensor) -> Tensor:
    # One pass tells in the usual case; a sum can overflow where no score is infinite.
    if not torch.isfinite(scores.sum()) and not torch.isfinite(scores).all():
        bad = int((~torch.isfinite(scores)).any(1).nonzero()[0])
        raise TrainingError(
            f"Scores must be finite, but those of {side} query {triples[bad].tolist()} "
            "(ids of head, relation, tail) are not."
        )
    return scores
