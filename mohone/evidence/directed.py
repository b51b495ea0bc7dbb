"""A model asked by directed relations: heads are asked for by the inverse one, `relation + n_relations`."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.kge import KGEModel
from mohone.kge.base import BlockScores


def distinct_queries(known: Tensor, relation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each query once.

    Args:
        known, relation: `(batch,)`, relations directed.

    Returns:
        entities and directed relations `(n_distinct,)`, by relation, then entity, and which of them each
        of the batch is, `(batch,)`.

    Example:
        >>> distinct_queries(torch.tensor([7, 7, 5]), torch.tensor([1, 1, 0]))
        (tensor([5, 7]), tensor([0, 1]), tensor([1, 1, 0]))
    """
    width = int(known.max()) + 1 if len(known) else 1
    keys, place = torch.unique(relation * width + known, return_inverse=True)
    return keys % width, keys // width, place


def directed_scores(model: KGEModel, known: Tensor, relation: Tensor) -> Tensor:
    """The scores of all entities: `(batch, n_entities)` for `(batch,)` entities and directed relations."""
    is_tail = relation < model.n_relations
    if is_tail.all():
        return model.score_tails(known, relation)
    if not is_tail.any():
        return model.score_heads(relation - model.n_relations, known)
    out = torch.empty(len(known), model.n_entities)
    for rows in (is_tail, ~is_tail):
        out[rows] = directed_scores(model, known[rows], relation[rows])
    return out


def directed_blocks(model: KGEModel, known: Tensor, relation: Tensor) -> BlockScores:
    """What gives the scores of blocks of candidates."""
    is_tail = relation < model.n_relations
    if is_tail.all():
        return model.block_scores(model.tail_query(known, relation))
    if not is_tail.any():
        return model.block_scores(model.head_query(relation - model.n_relations, known))
    back = torch.cat([is_tail.nonzero(), (~is_tail).nonzero()]).flatten().argsort()
    both = [directed_blocks(model, known[rows], relation[rows]) for rows in (is_tail, ~is_tail)]
    return lambda candidates: torch.cat([score(candidates) for score in both])[back]
