"""A model's best candidates of a batch of queries, the right answer's rank beside them, block by block."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.data import GroupIndex, answer_column, query_keys
from mohone.evaluation.best_so_far import BestSoFar
from mohone.evaluation.blocked import ByBlock
from mohone.evaluation.counting import Block, Counts
from mohone.evaluation.scoring import block_scorer
from mohone.kge import KGEModel


class Listed(NamedTuple):
    """The best candidates of each query, best first.

    Attributes:
        candidates: `(n, k)` entities; of equals those of lower numbers.
        scores: `(n, k)` float32; 0 after a list's end.
        gold: `(n,)` where in its list the right answer is; -1: outside.
        lengths: `(n,)` candidates of each list.
        rank: `(n,)` float64, the mean rank of the right answer among all candidates.
    """

    candidates: Tensor
    scores: Tensor
    gold: Tensor
    lengths: Tensor
    rank: Tensor


@torch.no_grad()
def best_candidates(
    model: KGEModel,
    side: str,
    triples: Tensor,
    known_answers: GroupIndex,
    k: int,
    block: int,
    every: int = 1,
) -> Listed:
    """List the k best; known answers are no candidates, the right answer is one.

    Args:
        model: on the CPU.
        side: `tail` or `head`.
        triples: `(n, 3)`.
        known_answers: by query.
        k: at most all entities.
        block: entities scored at a time.
        every: only the entities of one block in so many are candidates, and those that `rank` counts.
    """
    n, answers = len(triples), triples[:, answer_column(side)].contiguous()
    rows, columns = known_answers.lookup(query_keys(triples, side, model.n_relations))
    edges = [*range(0, model.n_entities, block), model.n_entities]
    every_row = torch.arange(n)
    # The right answers are listed first of all, and no candidate of a block.
    left_out = ByBlock((torch.cat([rows, every_row]), torch.cat([columns, answers])), edges)
    score = block_scorer(model, side, triples)
    gold = score(answers).float().diagonal().contiguous()
    best, counts = BestSoFar(n, k), Counts.zeros(n, gold.device)
    best.begin_with(answers, gold)
    for number, (first, last) in [*enumerate(pairwise(edges))][::every]:
        scores = score(torch.arange(first, last)).float().contiguous()
        scores[left_out.within(number)] = -torch.inf
        counts.add(Block(scores, gold, every_row, number, first))
        best.add(scores, first)
    candidates, found = best.sorted()
    there = found > -torch.inf
    is_right = (candidates == answers[:, None]) & there
    return Listed(
        candidates=candidates,
        scores=found.masked_fill(~there, 0.0),
        gold=torch.where(is_right.any(1), is_right.int().argmax(1), -1),
        lengths=there.sum(1),
        rank=1.0 + counts.above + counts.level.double() / 2,
    )
