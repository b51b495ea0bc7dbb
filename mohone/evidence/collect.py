"""The lists of candidates that a mix is fitted on: each query's best ones, and their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mohone.core.progress import progress_bar
from mohone.data import SIDES, GroupIndex, KnowledgeGraph, answer_column, query_keys, query_order
from mohone.evaluation.best_columns import best_columns
from mohone.evaluation.known_answers import mask_known
from mohone.evaluation.ranks import rank_all
from mohone.evaluation.sample import Sample
from mohone.evaluation.scoring import score_all
from mohone.evidence.expert import Expert
from mohone.evidence.listing import Listed, best_candidates
from mohone.evidence.mix import Lists
from mohone.evidence.model import EvidenceModel
from mohone.kge import KGEModel

_CHUNK_ELEMENTS = 1 << 22  # Scores held at a time.
_MOST_WHOLE = 1 << 16  # Entities that are scored at once; of more, blocks are, for so many queries:
_QUERIES = 256
_BLOCK = _CHUNK_ELEMENTS // _QUERIES
_MIXED_BLOCK = 2048  # So many at once where experts add to scores, in a processor's cache.
_SEARCHED = 1 << 19  # Entities, at most, among which candidates are sought that a mix ranks too high.


class Collected(NamedTuple):
    """Lists of queries, in the order of their directed relations.

    Attributes:
        lists: with their values.
        triples: `(n, 3)` that are asked for.
        candidates: `(n, k)` entities; 0 after a list's end.
        asked_for: on each side, as `queries_of` has them.
    """

    lists: Lists
    triples: Tensor
    candidates: Tensor
    asked_for: dict[str, Tensor]


class _Queries(NamedTuple):
    """Some queries of one side, and where among all they are."""

    side: str
    triples: Tensor
    known_answers: GroupIndex
    at: slice


@torch.no_grad()
def collect(
    model: KGEModel,
    experts: Sequence[Expert],
    kg: KnowledgeGraph,
    inverse_temperature: float,
    n_candidates: int,
    description: str | None = None,
    most_whole: int = _MOST_WHOLE,
    sample: Sample | None = None,
) -> Collected:
    """List the model's best candidates of the queries of the validation triples.

    Known answers, of train and valid, are no candidates, the right answer is; it may lie outside the list.

    Args:
        model: on the CPU.
        experts: with the facts of `kg` attached.
        kg: its `valid` triples are asked for.
        inverse_temperature: factor of the model's scores.
        n_candidates: of a list; all entities if they are fewer.
        description: of a progress bar; None: there is none.
        most_whole: entities up to which all are scored at once, and not in blocks.
        sample: which queries; None: all.
    """
    k = min(n_candidates, kg.n_entities)
    asked_for = queries_of(kg, sample or Sample())
    n, width = sum(map(len, asked_for.values())), 1 + sum(len(expert.values) for expert in experts)
    values = torch.zeros(n, k, width)
    gold, lengths, group = torch.empty(3, n, dtype=torch.int64)
    rank = torch.empty(n, dtype=torch.float64)
    listed_ones = torch.zeros(n, k, dtype=torch.int64)
    whole = kg.n_entities <= most_whole
    size = max(1, _CHUNK_ELEMENTS // kg.n_entities) if whole else _QUERIES
    with progress_bar(description, n) as bar:
        for some in _chunks(kg, asked_for, size):
            side, triples, known_answers, at = some
            if whole:
                listed = _list(model, side, triples, known_answers, k)
            else:
                listed = best_candidates(model, side, triples, known_answers, k, min(most_whole, _BLOCK))
            gold[at], lengths[at], rank[at] = listed.gold, listed.lengths, listed.rank
            group[at] = _relation(some, kg)
            listed_ones[at] = listed.candidates
            values[at, :, 0] = listed.scores * inverse_temperature
            values[at, :, 1:] = _values(experts, some, kg, listed.candidates)
            bar.update(len(triples))
    arrays = (part.numpy() for part in (values, gold, lengths, group, rank))
    return Collected(Lists(*arrays), torch.cat([*asked_for.values()]), listed_ones, asked_for)


@torch.no_grad()
def add_best_of_mix(
    collected: Collected, mixed: EvidenceModel, kg: KnowledgeGraph, n_candidates: int, description: str | None
) -> Collected:
    """The same lists with the best candidates of a mix that was fitted on them.

    Of a large graph the model's own best are few beside all that an expert speaks for: a mix fitted on those
    alone ranks others too high. They are sought in every so many blocks of entities, half a million in all.

    Args:
        collected: of these queries.
        mixed: the mix.
        kg: as the lists were made of.
        n_candidates: to be added, less those that are in the lists.
        description: of a progress bar; None: there is none.
    """
    n, k, width = collected.lists.values.shape
    more = min(n_candidates, kg.n_entities)
    every = -(-kg.n_entities // _SEARCHED)
    values = np.zeros((n, k + more, width), np.float32)
    candidates = torch.zeros(n, k + more, dtype=torch.int64)
    gold, lengths = torch.empty(2, n, dtype=torch.int64)
    with progress_bar(description, n) as bar:
        for some in _chunks(kg, collected.asked_for, _QUERIES):
            side, triples, known_answers, at = some
            found = best_candidates(mixed, side, triples, known_answers, more, _MIXED_BLOCK, every)
            both = torch.cat([collected.candidates[at], found.candidates], 1)
            before = torch.from_numpy(collected.lists.lengths[at])
            there = torch.cat(
                [torch.arange(k) < before[:, None], torch.arange(more) < found.lengths[:, None]], 1
            )
            there[:, k:] &= ~((both[:, k:, None] == both[:, None, :k]) & there[:, None, :k]).any(2)
            order = (~there).int().argsort(dim=1, stable=True)
            both = both.gather(1, order)
            lengths[at] = there.sum(1)
            inside = torch.arange(k + more) < lengths[at, None]
            both[~inside] = 0
            of_mix = mixed.values_at(triples[:, 2 - answer_column(side)], _relation(some, kg), both)
            values[at] = of_mix.masked_fill_(~inside[:, :, None], 0.0).numpy()
            right = (both == triples[:, answer_column(side), None]) & inside
            gold[at] = torch.where(right.any(1), right.int().argmax(1), -1)
            candidates[at] = both
            bar.update(len(triples))
    lists = collected.lists._replace(values=values, gold=gold.numpy(), lengths=lengths.numpy())
    return collected._replace(lists=lists, candidates=candidates)


def queries_of(kg: KnowledgeGraph, sample: Sample) -> dict[str, Tensor]:
    """The validation triples that are asked for on each side, equal queries of a relation together.

    They are those that `LinkPrediction` ranks of the same sample.
    """
    n = len(kg.valid)
    drawn = sample.draw_queries(2 * n)
    rows = {side: drawn[drawn // max(1, n) == i] - i * n for i, side in enumerate(SIDES)}
    return {side: kg.valid[some][query_order(kg.valid[some], side)] for side, some in rows.items()}


def _chunks(kg: KnowledgeGraph, asked_for: dict[str, Tensor], size: int) -> Iterator[_Queries]:
    """Queries by their directed relations, so many at a time."""
    first = 0
    for side, asked in asked_for.items():
        known_answers = kg.answers(side, "train", "valid", of=asked)
        for triples in asked.split(size):
            yield _Queries(side, triples, known_answers, slice(first, first + len(triples)))
            first += len(triples)


def _relation(some: _Queries, kg: KnowledgeGraph) -> Tensor:
    """The directed relation of each query."""
    return some.triples[:, 1] + SIDES.index(some.side) * kg.n_relations


def _values(experts: Sequence[Expert], some: _Queries, kg: KnowledgeGraph, candidates: Tensor) -> Tensor:
    """What experts say of candidates `(n, k)`: `(n, k, n_values)`."""
    entity, relation = some.triples[:, 2 - answer_column(some.side)], _relation(some, kg)
    return torch.cat([expert.at(entity, relation, candidates) for expert in experts], 2)


def _list(model: KGEModel, side: str, triples: Tensor, known_answers: GroupIndex, k: int) -> Listed:
    """The k best candidates of each query, best first, and where among them the right one is."""
    scores = score_all(model, side, triples).float()
    answers = triples[:, answer_column(side)]
    known = known_answers.lookup(query_keys(triples, side, model.n_relations))
    masked = mask_known(scores, answers, known)
    rank = rank_all(masked).mean
    scores.scatter_(1, answers[:, None], masked.gold)
    candidates = best_columns(scores, k)
    best = scores.gather(1, candidates)
    there = best > -torch.inf
    found = (candidates == answers[:, None]) & there
    gold = torch.where(found.any(1), found.int().argmax(1), -1)
    return Listed(candidates, best.masked_fill(~there, 0.0), gold, there.sum(1), rank)
