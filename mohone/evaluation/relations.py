"""Scores of relations: which of them holds between two entities."""

from __future__ import annotations

import torch
from torch import Tensor

from mohone.core.errors import TrainingError
from mohone.evaluation.link_prediction import queries_at_once
from mohone.kge import KGEModel


@torch.no_grad()
def score_relations(model: KGEModel, triples: Tensor) -> Tensor:
    """The mean of a triple's scores as an answer on either side, for each relation.

    Both directions count, for a model with reciprocal relations, or one of which the known side alone moved,
    has two. Training compares entities under one relation, never relations: the scores of two relations may
    stand on scales of their own.

    Args:
        model: gives the scores.
        triples: `(n, 3)` ids; their relations play no part.

    Returns:
        `(n, n_relations)` on the CPU.

    Raises:
        TrainingError: if a score is not finite.
    """
    n = len(triples)
    head, _, tail = triples.to(model.device).T
    # Relation by relation, so that a model with a matrix for each has few of them in a batch.
    pairs = torch.arange(n * model.n_relations, device=model.device)
    parts = []
    for part in pairs.split(queries_at_once(model.n_entities, model.device)):
        h, r, t = head[part % n], torch.div(part, n, rounding_mode="floor"), tail[part % n]
        with torch.autocast(model.device.type, enabled=False):
            as_tails = model.score_pairs(model.tail_query(h, r), t)
            as_heads = model.score_pairs(model.head_query(r, t), h)
        parts.append((as_tails + as_heads) / 2)
    scores = torch.cat(parts).view(model.n_relations, n).T.cpu().contiguous()
    if not torch.isfinite(scores).all():
        raise TrainingError("Scores must be finite, but those of some relations are not.")
    return scores
