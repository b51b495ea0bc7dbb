"""The highest scores of each query, of a whole matrix or of a block of candidates after the other."""

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


class BestSoFar:
    """The k best of candidates that come block by block, best first, equal ones in their order.

    Attributes:
        values, ids: `(n, k)`, fewer columns if there were fewer candidates.

    Example:
        >>> best = BestSoFar(1, 2)
        >>> for start, scores in ((0, [1.0, 3.0]), (2, [2.0, 3.0])):
        ...     best.add(torch.tensor([scores]), torch.arange(start, start + 2))
        >>> best.ids.tolist(), best.values.tolist()
        ([[1, 3]], [[3.0, 3.0]])
    """

    def __init__(self, n: int, k: int) -> None:
        self.k = k
        self.values, self.ids = torch.empty(n, 0), torch.empty(n, 0, dtype=torch.int64)

    def add(self, scores: Tensor, candidates: Tensor) -> None:
        """Take a block's.

        Args:
            scores: `(n, width)`.
            candidates: `(width,)`, ascending and above those before.
        """
        most = self.k
        if self.values.shape[1] == self.k:  # Few of a block are better than all those before.
            most = int((scores > self.values[:, -1:]).sum(1).max())
        if most == 0:
            return
        columns = best_columns(scores, min(self.k, most))
        values = torch.cat([self.values.to(scores), scores.gather(1, columns)], 1)
        ids = torch.cat([self.ids.to(candidates), candidates[columns]], 1)
        order = best_columns(values, self.k)
        self.values, self.ids = values.gather(1, order), ids.gather(1, order)
