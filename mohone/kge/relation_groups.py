"""The rows of a batch by relation, for models with a matrix for each relation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.kge.tables import lookup

_LEAST_ROWS = 4  # Of a block: fewer would copy more matrices than they save products with zeros.


def map_by_relation(
    apply: Callable[[Tensor, Tensor], Tensor], vectors: Tensor, relation: Tensor, matrices: Tensor
) -> Tensor:
    """`apply(vectors of one relation, its matrix)` for each relation of a batch, in the batch's order.

    Each distinct relation costs one call of plain products; a gather of `(batch, dim, dim)` is never made.
    So batches with few relations are quick (`training.relation_block`). What it equals:

        torch.cat([apply(vectors[i : i + 1], matrices[relation[i]]) for i in range(len(relation))])

    Args:
        apply: of `(n, dim)` and `(k, d)` to `(n, width)`.
        vectors: `(batch, dim)`.
        relation: `(batch,)`.
        matrices: `(n_relation_rows, k, d)`.

    Returns:
        `(batch, width)`.

    >>> vectors, relation = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([1, 0, 1])
    >>> matrices = torch.tensor([[[10.0]], [[100.0]]])
    >>> map_by_relation(lambda x, matrix: x @ matrix.T, vectors, relation, matrices).tolist()
    [[100.0], [20.0], [300.0]]
    """
    distinct, inverse, counts = torch.unique(relation, return_inverse=True, return_counts=True)
    shape = (len(distinct), *matrices.shape[1:])
    chosen = lookup(matrices.flatten(1), distinct).view(shape).unbind(0)
    if len(chosen) <= 1:
        return apply(vectors, chosen[0] if chosen else matrices[0])
    order = inverse.argsort(stable=True)
    parts = vectors[order].split(counts.tolist())
    results = torch.cat([apply(part, matrix) for part, matrix in zip(parts, chosen, strict=True)])
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return results[back]


def products_by_relation(
    vectors: Tensor, relation: Tensor, matrices: Tensor, transposed: bool = False
) -> Tensor:
    """`x @ M`, or `x @ M^T` (`transposed`), for each row x of a batch and the matrix M of its relation.

    The rows of a relation are brought together into blocks of equal size, filled up with zeros, so that one
    batched product serves all relations: some 100 small products a step take longer to start than to do.
    What it equals, with a copy of a matrix for each row:

        (vectors[:, None] @ (matrices.mT if transposed else matrices)[relation])[:, 0]

    Args:
        vectors: `(batch, k)`.
        relation: `(batch,)`.
        matrices: `(n_relation_rows, k, d)`, or `(n_relation_rows, d, k)`.

    Returns:
        `(batch, d)`.

    >>> vectors, relation = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1, 0])
    >>> matrices = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 10.0], [100.0, 0.0]]])
    >>> products_by_relation(vectors, relation, matrices).tolist()
    [[200.0, 10.0], [3.0, 4.0]]
    """
    if len(relation) == 0:
        return vectors.new_zeros(0, matrices.shape[1 if transposed else 2])
    blocks = _blocks(relation)
    chosen = lookup(matrices.flatten(1), blocks.relation).view(-1, *matrices.shape[1:])
    shape = (len(blocks.relation), blocks.size, vectors.shape[1])
    padded = vectors.new_zeros(shape[0] * shape[1], shape[2]).index_copy(0, blocks.place, vectors)
    return torch.bmm(padded.view(shape), chosen.mT if transposed else chosen).flatten(0, 1)[blocks.place]


class _Blocks(NamedTuple):
    """Rows of a batch in blocks of one relation each.

    Attributes:
        size: rows of a block, of which some may stay empty.
        place: `(batch,)` where each row stands among the rows of all blocks.
        relation: `(n_blocks,)` of each block.
    """

    size: int
    place: Tensor
    relation: Tensor


def _blocks(relation: Tensor) -> _Blocks:
    distinct, inverse, counts = torch.unique(relation, return_inverse=True, return_counts=True)
    size = max(_LEAST_ROWS, math.ceil(len(relation) / len(distinct)))
    n_blocks = (counts + size - 1) // size
    order = inverse.argsort(stable=True)
    within = torch.arange(len(relation), device=relation.device)
    within -= (counts.cumsum(0) - counts).repeat_interleave(counts)
    place = torch.empty_like(order)
    place[order] = ((n_blocks.cumsum(0) - n_blocks) * size).repeat_interleave(counts) + within
    return _Blocks(size, place, distinct.repeat_interleave(n_blocks))
