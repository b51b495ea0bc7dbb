"""The highest scores of each query, of a whole matrix."""

from __future__ import annotations

import torch
from torch import Tensor


def best_columns(scores: Tensor, k: int) -> Tensor:
    """The columns of the k highest scores of each row, highest first, equal ones in their order.

    Args:
        scores: `(n, n_columns)`.
        k: fewer if there are fewer columns.

    Returns:
        `(n, k)`.

    Example:
        >>> best_columns(torch.tensor([[1.0, 2.0, 1.0, 1.0, 3.0]]), 4)
        tensor([[4, 1, 0, 2]])
    """
    k = min(k, scores.shape[1])
    values, columns = scores.topk(min(k + 1, scores.shape[1]), 1)
    columns = columns[:, :k].sort(1).values
    order = scores.gather(1, columns).sort(stable=True, dim=1, descending=True).indices
    columns = columns.gather(1, order)
    if values.shape[1] > k:
        # Which of those that tie at the end `topk` takes, it does not say: sort those rows as a whole.
        tied = (values[:, k] == values[:, k - 1]) & (values[:, k] > -torch.inf)
        columns[tied] = scores[tied].sort(stable=True, dim=1, descending=True).indices[:, :k]
    return columns
