"""Rows of a matrix in blocks that fit in the cache."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

_ELEMENTS = 1 << 18  # One megabyte of float32: a block and its result stay in the cache between passes.


def row_blocks(matrix: Tensor) -> Iterator[slice]:
    """Slices of the rows of `matrix`: all passes over one block come before those over the next.

    Only a CPU gains by it: elsewhere there is one slice, of all rows.

    >>> import torch
    >>> [(part.start, part.stop) for part in row_blocks(torch.zeros(3, 100_000))]
    [(0, 2), (2, 4)]
    """
    n = len(matrix) if matrix.dim() else 0
    step = max(1, _ELEMENTS // max(1, matrix[0].numel())) if n else 1
    if matrix.device.type != "cpu":
        step = max(1, n)
    for start in range(0, n, step):
        yield slice(start, start + step)
