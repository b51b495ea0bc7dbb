"""The one sparse-dense product of the product: torch's own, or that of torch-sparse."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from mohone.core.errors import ConfigError, require_choice

BACKENDS = ("torch", "torch_sparse")
Product = Callable[[Tensor, Tensor], Tensor]


def csr_matrix(row: Tensor, column: Tensor, value: Tensor, n: int) -> Tensor:
    """A square float32 CSR matrix of triplets without repetitions (torch's fastest sparse form on a CPU).

    Example:
        >>> csr_matrix(torch.tensor([1, 0]), torch.tensor([0, 1]), torch.tensor([2.0, 3.0]), n=2).to_dense()
        tensor([[0., 3.],
                [2., 0.]])
    """
    order = torch.argsort(row * n + column)
    return csr_of_rows(torch.bincount(row, minlength=n), column[order], value[order])


def csr_of_rows(sizes: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    """The same of rows laid end to end.

    Args:
        sizes: `(n,)` entries of each row.
        columns: of all entries, ascending within a row.
        values: of all entries.
    """
    n = len(sizes)
    starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse (CSR tensor|invariant)")
        return torch.sparse_csr_tensor(
            starts.to(torch.int32), columns.to(torch.int32), values.float(), (n, n)
        )


def spmm(matrix: Tensor, dense: Tensor) -> Tensor:
    """The product of a sparse CSR `(n, n)` and a dense `(n, k)` matrix."""
    return _product(matrix, dense)


def use_backend(name: object) -> None:
    """Take this backend for all products from now on.

    Raises:
        ConfigError: an unknown one, or one that is not installed.
    """
    global _product
    _product = (
        _torch_product if require_choice("sparse", name, BACKENDS) == "torch" else _torch_sparse_product()
    )


def _torch_product(matrix: Tensor, dense: Tensor) -> Tensor:
    return matrix @ dense


def _torch_sparse_product() -> Product:
    try:
        from torch_sparse import SparseTensor, matmul
    except ImportError as error:
        raise ConfigError(
            "`sparse` must be torch where torch-sparse is not installed, but is torch_sparse."
        ) from error

    def product(matrix: Tensor, dense: Tensor) -> Tensor:
        sparse = SparseTensor(
            rowptr=matrix.crow_indices().long(),
            col=matrix.col_indices().long(),
            value=matrix.values(),
            sparse_sizes=tuple(matrix.shape),
            is_sorted=True,
        )
        out: Tensor = matmul(sparse, dense)
        return out

    return product


_product: Product = _torch_product
