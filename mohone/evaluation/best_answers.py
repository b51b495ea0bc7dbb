"""The best answers to one query, by name."""

from __future__ import annotations

from typing import NamedTuple

import torch

from mohone.data import KnowledgeGraph
from mohone.data.knowledge_graph import SPLITS, answer_column, query_keys
from mohone.evaluation.known_answers import mask_known
from mohone.evaluation.link_prediction import Scorer, score_all
from mohone.evaluation.ranks import rank_all


class Answer(NamedTuple):
    """A candidate for a query: name, score, the first split that has the triple (empty: none), its id."""

    name: str
    score: float
    split: str
    entity: int


@torch.no_grad()
def best_answers(
    model: Scorer, kg: KnowledgeGraph, side: str, entity: int, relation: int, n: int, with_known: bool
) -> list[Answer]:
    """The n candidates with the highest scores, best first, equal ones in the order of their names.

    Args:
        model: what gives the scores.
        kg: the data set.
        side: `tail` or `head`, what is asked for.
        entity: the known one.
        relation: its relation.
        n: at most so many.
        with_known: also those whose triple the data set has.
    """
    query = torch.tensor([[entity, relation, entity]], device=getattr(model, "device", None))
    scores = score_all(model, side, query)[0].cpu()
    splits: dict[int, str] = {}
    for split in reversed(SPLITS):
        triples = getattr(kg, split)
        same = (triples[:, 1] == relation) & (triples[:, 2 - answer_column(side)] == entity)
        splits |= dict.fromkeys(triples[same, answer_column(side)].tolist(), split)
    order = scores.argsort(descending=True, stable=True).tolist()
    wanted = [i for i in order if with_known or i not in splits][:n]
    return [Answer(kg.entities.names[i], float(scores[i]), splits.get(i, ""), i) for i in wanted]


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
    known = kg.answers(side, *SPLITS).lookup(query_keys(asked, side, kg.n_relations))
    masked = mask_known(scores, asked[:, answer_column(side)], known)
    return float(rank_all(masked).mean)
