"""Tables of vectors of which a step touches some rows: looked up, with gradients as sparse as they can be."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

_FEW = 8  # A gradient is sparse if the rows are fewer than an eighth of the table's.
LARGE = 1 << 25  # Numbers of a table (128 MB) of which a step may only touch the rows that it uses.


def lookup(table: Tensor, ids: Tensor | None, sparse: bool = False) -> Tensor:
    """The rows `ids` of a table, or all of it, uncopied.

    Args:
        table: `(n, width)`.
        ids: `(batch,)`; None: all rows, in order.
        sparse: may the gradient be sparse, if the table is a parameter and the rows are few of it?

    Returns:
        `(batch, width)`.

    >>> import torch
    >>> lookup(torch.tensor([[0, 1], [2, 3], [4, 5]]), torch.tensor([2, 0])).tolist()
    [[4, 5], [0, 1]]
    """
    if ids is None:
        return table
    sparse = sparse and table.is_leaf and _FEW * ids.numel() < len(table)
    # Not table[ids]: the gradient of F.embedding is the faster one.
    return F.embedding(ids, table, sparse=sparse)


def is_large(table: Tensor) -> bool:
    """Has the table so many numbers that no step of a training should pass over all of them?"""
    return table.numel() > LARGE


def make_gradients_dense(model: nn.Module, also_large: bool = True) -> None:
    """What the fused optimisers take: each gradient once, after all its parts are summed.

    Args:
        also_large: also those of large tables?
    """
    for table in model.parameters():
        if table.grad is not None and table.grad.is_sparse and (also_large or not is_large(table)):
            table.grad = table.grad.to_dense()


def touched_rows(table: nn.Parameter) -> Tensor | None:
    """The rows that the last step moved, where its gradient is sparse; None: all of them."""
    if table.grad is None or not table.grad.is_sparse:
        return None
    rows: Tensor = table.grad._indices()[0].unique()
    return rows
