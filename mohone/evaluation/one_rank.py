"""The rank of one answer."""

from __future__ import annotations

import torch

from mohone.data import KnowledgeGraph, answer_column, query_keys
from mohone.data.knowledge_graph import SPLITS
from mohone.evaluation.known_answers import mask_known
from mohone.evaluation.ranks import rank_all
from mohone.evaluation.scoring import Scorer, score_all


@torch.no_grad()
def filtered_rank(model: Scorer, kg: KnowledgeGraph, side: str, triple: tuple[int, int, int]) -> float:
    """The rank of a triple's answer among all entities but the other known answers, of all splits.

    Args:
        model: what gives the scores.
        kg: the data set.
        side: `tail` or `head`, what is asked for.
        triple: ids of head, relation, tail.
    """
    asked = torch.tensor([triple])
    scores = score_all(model, side, asked.to(getattr(model, "device", "cpu"))).cpu()
    known = kg.answers(side, *SPLITS, of=asked).lookup(query_keys(asked, side, kg.n_relations))
    masked = mask_known(scores, asked[:, answer_column(side)], known)
    return float(rank_all(masked).mean)
