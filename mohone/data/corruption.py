"""False triples, drawn: true ones with their head or tail replaced."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import LAST_SEED, require_int
from mohone.data.knowledge_graph import SIDES, KnowledgeGraph, answer_column, splits_of

_MOST_ROUNDS = 100


def head_chances(kg: KnowledgeGraph) -> Tensor:
    """With what chance the head is replaced, and not the tail: `(n_relations,)`.

    `tph / (tph + hpt)` [Wang et al. 2014], where tph is the mean number of tails of a head under the relation
    in train, and hpt that of heads of a tail; a half if train lacks the relation.
    """
    n = kg.n_relations
    queries = {side: torch.bincount(kg.answers(side, "train").keys % n, minlength=n) for side in SIDES}
    # tph = triples / distinct (h, r); hpt = triples / distinct (r, t): their ratio needs no triples.
    tph, hpt = queries["tail"].reciprocal(), queries["head"].reciprocal()
    return torch.where(queries["tail"] > 0, tph / (tph + hpt), 0.5)


def draw_negatives(kg: KnowledgeGraph, split: str, typed: bool, seed: int) -> Tensor:
    """A triple that no split has for each of a split's: head or tail replaced, by `head_chances`.

    Args:
        kg: the data set.
        split: whose triples are corrupted.
        typed: with an entity that train has with the relation on that side; else with any.
        seed: of the draw.

    Returns:
        `(n, 3)`, in the order of the split. Where fifty draws on one side were all true, the other is tried;
        where fifty on that were, too, there is none.
    """
    generator = torch.Generator().manual_seed(require_int("seed", seed, 0, LAST_SEED))
    triples = kg.triples(split).clone()
    by_head = torch.rand(len(triples), generator=generator) < head_chances(kg)[triples[:, 1]]
    candidates = {side: kg.relation_candidates(side, "train") for side in SIDES}
    left = torch.arange(len(triples))
    for number in range(_MOST_ROUNDS):
        if number == _MOST_ROUNDS // 2:
            by_head[left] = ~by_head[left]
            triples[left] = kg.triples(split)[left]
        for side, rows in (("head", left[by_head[left]]), ("tail", left[~by_head[left]])):
            share = torch.rand(len(rows), generator=generator, dtype=torch.float64)
            drawn = (share * kg.n_entities).long()
            if typed:
                index = candidates[side]
                place = torch.searchsorted(index.keys, triples[rows, 1]).clamp_(max=len(index.keys) - 1)
                start, end = index.offsets[place], index.offsets[place + 1]
                found = index.members[start + (share * (end - start)).long()]
                drawn = torch.where(index.keys[place] == triples[rows, 1], found, drawn)
            triples[rows, answer_column(side)] = drawn
        left = left[splits_of(kg, triples[left]) >= 0]
        if len(left) == 0:
            break
    kept = torch.ones(len(triples), dtype=torch.bool)
    kept[left] = False
    return triples[kept]
