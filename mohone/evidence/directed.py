"""A model asked by directed relations: heads are asked for by the inverse one, `relation + n_relations`."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.kge import KGEModel
from mohone.kge.base import BlockScores


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
