"""The rows of a batch by relation, for models with a matrix for each relation."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mohone.kge.base import rows


def map_by_relation(
    apply: Callable[[Tensor, Tensor], Tensor], vectors: Tensor, relation: Tensor, matrices: Tensor
) -> Tensor:
    """`apply(vectors of one relation, its matrix)` for each relation of a batch, in the batch's order.

    Each distinct relation costs one call of plain products; a gather of `(batch, dim, dim)` is never made.
    So batches with few relations are quick (`training.relation_run`).

    Args:
        apply: of `(n, dim)` and `(k, d)` to `(n, width)`.
        vectors: `(batch, dim)`.
        relation: `(batch,)`.
        matrices: `(n_relations, k, d)`.

    Returns:
        `(batch, width)`.
    """
    distinct, inverse, counts = torch.unique(relation, return_inverse=True, return_counts=True)
    shape = (len(distinct), *matrices.shape[1:])
    chosen = rows(matrices.flatten(1), distinct).view(shape).unbind(0)
    if len(chosen) <= 1:
        return apply(vectors, chosen[0] if chosen else matrices[0])
    order = inverse.argsort(stable=True)
    parts = vectors[order].split(counts.tolist())
    results = torch.cat([apply(part, matrix) for part, matrix in zip(parts, chosen, strict=True)])
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return results[back]
