"""A model's best candidates of a batch of queries, the right answer's rank beside them, block by block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array, in_chunks
from mohone.data import GroupIndex, answer_column, query_keys
from mohone.evaluation.scoring import block_scorer
from mohone.kge import KGEModel

_SEGMENT = 512  # Scores that are compared at once: of most segments none is among the best.


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
    n = len(triples)
    answers = triples[:, answer_column(side)].contiguous()
    rows, columns = known_answers.lookup(query_keys(triples, side, model.n_relations))
    order = columns.argsort()
    rows, columns = rows[order], columns[order]
    score = block_scorer(model, side, triples)
    gold = score(answers).float().diagonal().contiguous()
    best = Best(np.full((n, k), -np.inf, np.float32), np.zeros((n, k), np.int64), *np.zeros((3, n), np.int64))
    right = answers.numpy(), gold.numpy()
    add_right(best, *right)
    for entities in torch.arange(model.n_entities).split(block)[::every]:
        first, last = int(entities[0]), int(entities[-1]) + 1
        scores = score(entities).float().contiguous()
        inside = slice(*torch.searchsorted(columns, torch.tensor([first, last])).tolist())
        scores[rows[inside], columns[inside] - first] = -torch.inf
        keep_best(best, scores.numpy(), first, *right)
    by_number = torch.from_numpy(best.entities).argsort(1)
    found = torch.from_numpy(best.scores).gather(1, by_number)
    found, by_score = found.sort(dim=1, descending=True, stable=True)
    candidates = torch.from_numpy(best.entities).gather(1, by_number).gather(1, by_score)
    there = found > -torch.inf
    is_right = (candidates == answers[:, None]) & there
    return Listed(
        candidates=candidates,
        scores=found.masked_fill(~there, 0.0),
        gold=torch.where(is_right.any(1), is_right.int().argmax(1), -1),
        lengths=there.sum(1),
        rank=torch.from_numpy(1.0 + best.n_better + best.n_equal / 2),
    )


class Best(NamedTuple):
    """The best so far of each query, as heaps whose root is the worst.

    Attributes:
        scores: `(n, k)` float32, minus infinity where there is none.
        entities: `(n, k)` int64.
        sizes: `(n,)` of the heaps.
        n_better, n_equal: `(n,)` candidates other than the right answer, by its score.
    """

    scores: Array
    entities: Array
    sizes: Array
    n_better: Array
    n_equal: Array


def add_right(best: Best, answers: Array, gold: Array) -> None:
    """Take in the right answers `(n,)` and their scores, before all others."""
    best.scores[:, 0], best.entities[:, 0], best.sizes[:] = gold, answers, 1


def keep_best(best: Best, scores: Array, first: int, answers: Array, gold: Array) -> None:
    """Take in the scores `(n, n_block)` of the entities from `first` on; minus infinity is no candidate.

    The right answers are not taken in again.
    """
    in_chunks(
        lambda start, stop: _keep_best(best, scores, first, answers, gold, start, stop), len(scores), least=8
    )


@njit(cache=True, nogil=True)
def _keep_best(
    best: Best, scores: Array, first: int, answers: Array, gold: Array, start: int, stop: int
) -> None:
    k = best.scores.shape[1]
    for i in range(start, stop):
        heap, entities, size = best.scores[i], best.entities[i], best.sizes[i]
        right, answer, n_better, n_equal = gold[i], answers[i] - first, 0, 0
        if 0 <= answer < scores.shape[1]:
            scores[i, answer] = -np.inf
        for begin in range(0, scores.shape[1], _SEGMENT):
            segment = scores[i, begin : begin + _SEGMENT]
            worst = heap[0] if size == k else np.float32(-np.inf)
            better, equal, good = _compare(segment, right, worst)
            n_better += better
            n_equal += equal
            if good == 0:
                continue
            for j in range(len(segment)):
                score = segment[j]
                if (size < k or score >= heap[0]) and score > -np.inf:
                    size = _push(heap, entities, size, k, score, first + begin + j)
        best.sizes[i] = size
        best.n_better[i] += n_better
        best.n_equal[i] += n_equal


@njit(cache=True, nogil=True)
def _compare(scores: Array, right: Any, worst: Any) -> Any:
    """How many scores are above the right answer's, level with it, and not below the worst that is kept."""
    # Of 32 bits, so that a processor counts many at once.
    better, equal, good = np.uint32(0), np.uint32(0), np.uint32(0)
    for j in range(len(scores)):
        better = np.uint32(better + np.uint32(scores[j] > right))
        equal = np.uint32(equal + np.uint32(scores[j] == right))
        good = np.uint32(good + np.uint32(scores[j] >= worst))
    return better, equal, good


@njit(cache=True, nogil=True, inline="always")
def _worse(score: Any, entity: int, other_score: Any, other: int) -> Any:
    return score < other_score or (score == other_score and entity > other)


@njit(cache=True, nogil=True)
def _push(heap: Array, entities: Array, size: int, k: int, score: Any, entity: int) -> Any:
    """Add to the heap, in place of its worst if it is full; its size after."""
    if size < k:
        at = size
        while at > 0:
            up = (at - 1) >> 1
            if not _worse(score, entity, heap[up], entities[up]):
                break
            heap[at], entities[at] = heap[up], entities[up]
            at = up
        heap[at], entities[at] = score, entity
        return size + 1
    if _worse(score, entity, heap[0], entities[0]):
        return size
    at = 0
    while 2 * at + 1 < size:
        down = 2 * at + 1
        if down + 1 < size and _worse(heap[down + 1], entities[down + 1], heap[down], entities[down]):
            down += 1
        if not _worse(heap[down], entities[down], score, entity):
            break
        heap[at], entities[at] = heap[down], entities[down]
        at = down
    heap[at], entities[at] = score, entity
    return size
