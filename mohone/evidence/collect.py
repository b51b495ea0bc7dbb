"""The lists of candidates that a mix is fitted on: each query's best ones, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.progress import progress_bar
from mohone.data import SIDES, KnowledgeGraph, answer_column, query_keys
from mohone.evaluation.best_in_blocks import best_in_blocks
from mohone.evaluation.blocked import rank_in_blocks
from mohone.evaluation.chunks import block_size
from mohone.evaluation.filters import Asked
from mohone.evaluation.known_answers import Pairs, mask_known
from mohone.evaluation.ranks import rank_all
from mohone.evaluation.scoring import block_scorer, score_all
from mohone.evidence.expert import Expert
from mohone.evidence.mix import Lists
from mohone.kge import KGEModel

_CHUNK_ELEMENTS = 1 << 22
_BLOCK_QUERIES = 32  # Some have millions of known answers.


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
    block: int | None = None,
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
        block: entities scored at a time; None: all, up to a size of the graph.
    """
    k = min(n_candidates, kg.n_entities)
    n, width = 2 * len(kg.valid), 1 + sum(len(expert.values) for expert in experts)
    values = torch.zeros(n, k, width)
    gold, lengths, group = torch.empty(3, n, dtype=torch.int64)
    rank, asked = torch.empty(n, dtype=torch.float64), torch.empty(n, 3, dtype=torch.int64)
    order = kg.valid[:, 1].argsort(stable=True)
    blocks = block_size(kg.n_entities, torch.device("cpu"), block)
    size = _BLOCK_QUERIES if blocks else max(1, _CHUNK_ELEMENTS // kg.n_entities)
    first = 0
    with progress_bar(description, n) as bar:
        for side in SIDES:
            known_answers = kg.answers(side, "train", "valid", of=kg.valid)
            for triples in kg.valid[order].split(size):
                at = slice(first, first + len(triples))
                first = at.stop
                known = known_answers.lookup(query_keys(triples, side, kg.n_relations))
                if blocks:
                    listed = _list_in_blocks(model, side, triples, known, k, blocks.entities)
                else:
                    listed = _list(model, side, triples, known, k)
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


class _Listed(NamedTuple):
    candidates: Tensor
    scores: Tensor
    gold: Tensor
    lengths: Tensor
    rank: Tensor


def _list(model: KGEModel, side: str, triples: Tensor, known: Pairs, k: int) -> _Listed:
    """The k best candidates of each query, best first, and where among them the right one is."""
    scores = score_all(model, side, triples).float()
    answers = triples[:, answer_column(side)]
    masked = mask_known(scores, answers, known)
    rank = rank_all(masked).mean
    scores.scatter_(1, answers[:, None], masked.gold)
    best, candidates = scores.topk(k, 1)
    return _listed(best, candidates, answers, rank)


def _list_in_blocks(model: KGEModel, side: str, triples: Tensor, known: Pairs, k: int, width: int) -> _Listed:
    """The same, of entities scored some at a time."""
    score = block_scorer(model, side, triples)
    answers, rows = triples[:, answer_column(side)], torch.arange(len(triples))
    others = known[1] != answers[known[0]]
    left_out = known[0][others], known[1][others]
    entities = torch.arange(model.n_entities)
    best = best_in_blocks(score, left_out, None, entities, k, width)
    with_own = torch.cat([left_out[0], rows]), torch.cat([left_out[1], answers])
    asked = Asked(triples, answers, rows, with_own, types={}, linked=None)
    rank = rank_in_blocks(score, asked, entities, width)["filtered"].mean
    return _listed(best.values.float(), best.ids, answers, rank)


def _listed(best: Tensor, candidates: Tensor, answers: Tensor, rank: Tensor) -> _Listed:
    there = best > -torch.inf
    found = (candidates == answers[:, None]) & there
    gold = torch.where(found.any(1), found.int().argmax(1), -1)
    return _Listed(candidates, best.masked_fill(~there, 0.0), gold, there.sum(1), rank)
