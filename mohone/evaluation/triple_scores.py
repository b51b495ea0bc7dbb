"""Scores of triples as such: of given ones, or of all relations between two entities."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import TrainingError
from mohone.evaluation.chunks import queries_at_once
from mohone.kge import KGEModel


@torch.no_grad()
def score_triples(model: KGEModel, triples: Tensor) -> Tensor:
    """The mean of a triple's scores as an answer on either side.

    Both directions count, for a model with reciprocal relations, or one of which the known side alone moved,
    has two.

    Args:
        model: gives the scores.
        triples: `(n, 3)` ids; quickest where those of a relation stand together.

    Returns:
        `(n,)` on the CPU.

    Raises:
        TrainingError: if a score is not finite.
    """
    parts = []
    # Some models score all entities for one pair: no more pairs at a time than queries.
    for part in triples.split(queries_at_once(model.n_entities, model.device)):
        head, relation, tail = part.to(model.device).T
        with torch.autocast(model.device.type, enabled=False):
            as_tails = model.score_pairs(model.tail_query(head, relation), tail)
            as_heads = model.score_pairs(model.head_query(relation, tail), head)
        parts.append(((as_tails + as_heads) / 2).cpu())
    scores = torch.cat(parts) if parts else torch.empty(0)
    bad = (~torch.isfinite(scores)).nonzero().flatten()
    if len(bad):
        triple = triples[int(bad[0])].tolist()
        raise TrainingError(f"Scores must be finite, but that of {triple} (head, relation, tail) is not.")
    return scores


def score_relations(model: KGEModel, triples: Tensor) -> Tensor:
    """`score_triples` with each relation in turn: `(n, n_relations)`.

    Training compares entities under one relation, never relations: the scores of two relations may stand on
    scales of their own.

    Args:
        model: gives the scores.
        triples: `(n, 3)` ids; their relations play no part.
    """
    n, n_relations = len(triples), model.n_relations
    each = triples.repeat(n_relations, 1)  # Relation by relation: see `score_triples`.
    each[:, 1] = torch.arange(n_relations).repeat_interleave(n)
    return score_triples(model, each).view(n_relations, n).T.contiguous()
