"""Distributions of heat values and the Jensen-Shannon divergence between them."""

from __future__ import annotations

import math

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mohone.core.parallel import Array, in_chunks


def log_histograms(values: Tensor, n_bins: int, lowest: float = 1e-9) -> Tensor:
    """Histogram of each row's values on a logarithmic axis.

    Heat values span many orders of magnitude, so bins are equal in `log(value)`, between `lowest` and 1,
    the same for all rows; the first bin also takes all that is smaller, zeros included.

    Args:
        values: `(n, m)` float32, in [0, 1].
        n_bins: number of bins.

    Returns:
        `(n, n_bins)` int32 counts.

    Example:
        >>> log_histograms(torch.tensor([[1.0, 1e-2, 0.0]]), n_bins=3)
        tensor([[1, 0, 2]], dtype=torch.int32)
    """
    out = np.zeros((len(values), n_bins), np.int32)
    rows = values.contiguous().numpy()
    in_chunks(lambda start, stop: _histograms(rows, lowest, start, stop, out), len(values), least=1)
    return torch.from_numpy(out)


@njit(cache=True, nogil=True)
def _histograms(values: Array, lowest: float, start: int, stop: int, out: Array) -> None:
    n_bins = out.shape[1]
    floor = math.log(lowest)
    for i in range(start, stop):
        for value in values[i]:
            place = 0
            if value > lowest:
                place = min(n_bins - 1, int((math.log(value) - floor) / -floor * n_bins))
            out[i, place] += 1


class HistogramDivergence:
    """Jensen-Shannon divergences in nats between histograms of equally many values [Lin 1991].

    `JSD = H((p + q) / 2) - (H(p) + H(q)) / 2`, in [0, log 2]. The counts are integers, so the terms of the
    first entropy are looked up by the sum of two counts: one addition a bin, and no logarithm.

    Args:
        counts: `(n, n_bins)` int32, each row with the same sum.

    Example:
        >>> apart = HistogramDivergence(torch.tensor([[2, 0], [0, 2]])).rows(torch.tensor([0]))
        >>> f"{apart[0, 0]:.4f} {apart[0, 1]:.4f}"  # No more than log 2.
        '0.0000 0.6931'
    """

    def __init__(self, counts: Tensor) -> None:
        self.counts = counts.numpy()
        total = int(counts[0].sum()) if len(counts) else 1
        share = np.arange(2 * total + 1) / (2 * total)
        self._terms = -share * np.log(np.where(share > 0, share, 1.0))
        self._entropy = self._terms[2 * self.counts].sum(1)
        self._by_bin = np.ascontiguousarray(self.counts.T.astype(np.uint32))

    def rows(self, numbers: Tensor) -> Tensor:
        """From each of these histograms to all: `(len(numbers), n)` float32, never negative."""
        out = np.empty((len(numbers), len(self.counts)), np.float32)
        of_rows = numbers.numpy()

        def loop(start: int, stop: int) -> None:
            _divergences_to_all(self._by_bin, self._terms, self._entropy, of_rows, start, stop, out)

        in_chunks(loop, len(numbers), least=1)
        return torch.from_numpy(out)

    def between(self, numbers: Tensor, others: Tensor) -> Tensor:
        """From each histogram to some: `(len(numbers), k)` float32 for `others` of that shape."""
        out = np.empty(others.shape, np.float32)
        of_rows, of_columns = numbers.numpy(), others.numpy()

        def loop(start: int, stop: int) -> None:
            _divergences(self.counts, self._terms, self._entropy, of_rows, of_columns, start, stop, out)

        in_chunks(loop, len(numbers), least=1)
        return torch.from_numpy(out)


@njit(cache=True, nogil=True)
def _divergences(
    counts: Array,
    terms: Array,
    entropy: Array,
    rows: Array,
    columns: Array,
    start: int,
    stop: int,
    out: Array,
) -> None:
    for i in range(start, stop):
        own = counts[rows[i]]
        for j in range(columns.shape[1]):
            other = counts[columns[i, j]]
            mixed = 0.0
            for place in range(counts.shape[1]):
                mixed += terms[own[place] + other[place]]
            out[i, j] = max(0.0, mixed - (entropy[rows[i]] + entropy[columns[i, j]]) / 2)


@njit(cache=True, nogil=True)
def _divergences_to_all(
    by_bin: Array, terms: Array, entropy: Array, rows: Array, start: int, stop: int, out: Array
) -> None:
    """A bin of all histograms at a time: the lookups of neighbours in memory are done at once."""
    n_bins, n = by_bin.shape
    mixed = np.empty(n)
    for i in range(start, stop):
        mixed[:] = 0.0
        for place in range(n_bins):
            own, others = by_bin[place, rows[i]], by_bin[place]
            for j in range(n):
                mixed[j] += terms[own + others[j]]
        for j in range(n):
            out[i, j] = max(0.0, mixed[j] - (entropy[rows[i]] + entropy[j]) / 2)
