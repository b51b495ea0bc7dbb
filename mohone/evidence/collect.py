"""The lists of candidates that a mix is fitted on: each query's best ones, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.progress import progress_bar
from mohone.data import SIDES, GroupIndex, KnowledgeGraph, answer_column, query_keys
from mohone.evaluation.known_answers import mask_known
from mohone.evaluation.ranks import rank_all
from mohone.evaluation.scoring import score_all
from mohone.evidence.expert import Expert
from mohone.evidence.listing import Listed, best_candidates
from mohone.evidence.mix import Lists
from mohone.kge import KGEModel

_CHUNK_ELEMENTS = 1 << 22  # Scores held at a time.
_MOST_WHOLE = 1 << 16  # Entities that are scored at once; of more, blocks are, for so many queries:
_QUERIES = 256


class Collected(NamedTuple):
    """Lists of queries, in the order of their directed relations, and the triples they ask for."""

    lists: Lists
    triples: Tensor


@torch.no_grad()
def collect(
    model: KGEModel,
    experts: Sequence[Expert],
    kg: KnowledgeGraph,
    inverse_temperature: float,
    n_candidates: int,
    description: str | None = None,
    most_whole: int = _MOST_WHOLE,
) -> Collected:
    """List the model's best candidates of all queries of the validation triples.

    Known answers, of train and valid, are no candidates, the right answer is; it may lie outside the list.

    Args:
        model: on the CPU.
        experts: with the facts of `kg` attached.
        kg: its `valid` triples are asked for.
        inverse_temperature: factor of the model's scores.
        n_candidates: of a list; all entities if they are fewer.
        description: of a progress bar; None: there is none.
        most_whole: entities up to which all are scored at once, and not in blocks.
    """
    k = min(n_candidates, kg.n_entities)
    n, width = 2 * len(kg.valid), 1 + sum(len(expert.values) for expert in experts)
    values = torch.zeros(n, k, width)
    gold, lengths, group = torch.empty(3, n, dtype=torch.int64)
    rank, asked = torch.empty(n, dtype=torch.float64), torch.empty(n, 3, dtype=torch.int64)
    order = kg.valid[:, 1].argsort(stable=True)
    whole = kg.n_entities <= most_whole
    size = max(1, _CHUNK_ELEMENTS // kg.n_entities) if whole else _QUERIES
    first = 0
    with progress_bar(description, n) as bar:
        for side in SIDES:
            known_answers = kg.answers(side, "train", "valid", of=kg.valid)
            for triples in kg.valid[order].split(size):
                at = slice(first, first + len(triples))
                first = at.stop
                if whole:
                    listed = _list(model, side, triples, known_answers, k)
                else:
                    block = min(most_whole, _CHUNK_ELEMENTS // _QUERIES)
                    listed = best_candidates(model, side, triples, known_answers, k, block)
                entity = triples[:, 2 - answer_column(side)]
                relation = triples[:, 1] + SIDES.index(side) * kg.n_relations
                gold[at], lengths[at], rank[at] = listed.gold, listed.lengths, listed.rank
                group[at], asked[at] = relation, triples
                values[at, :, 0] = listed.scores * inverse_temperature
                column = 1
                for expert in experts:
                    after = column + len(expert.values)
                    values[at, :, column:after] = expert.at(entity, relation, listed.candidates)
                    column = after
                bar.update(len(triples))
    arrays = (part.numpy() for part in (values, gold, lengths, group, rank))
    return Collected(Lists(*arrays), asked)


def _list(model: KGEModel, side: str, triples: Tensor, known_answers: GroupIndex, k: int) -> Listed:
    """The k best candidates of each query, best first, and where among them the right one is."""
    scores = score_all(model, side, triples).float()
    answers = triples[:, answer_column(side)]
    known = known_answers.lookup(query_keys(triples, side, model.n_relations))
    masked = mask_known(scores, answers, known)
    rank = rank_all(masked).mean
    scores.scatter_(1, answers[:, None], masked.gold)
    best, candidates = scores.topk(k, 1)
    there = best > -torch.inf
    found = (candidates == answers[:, None]) & there
    gold = torch.where(found.any(1), found.int().argmax(1), -1)
    return Listed(candidates, best.masked_fill(~there, 0.0), gold, there.sum(1), rank)
