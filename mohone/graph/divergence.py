"""Distributions of heat values and the Jensen-Shannon divergence between them."""

from __future__ import annotations

import torch
from torch import Tensor

_BLOCK_ELEMENTS = 1 << 21  # Temporaries of 8 MB: they stay in the cache.


def log_histograms(values: Tensor, n_bins: int, lowest: float = 1e-9) -> Tensor:
    """Histogram of each row's values on a logarithmic axis.

    Heat values span many orders of magnitude, so bins are equal in `log(value)`, between `lowest` and 1,
    the same for all rows; the first bin also takes all that is smaller, zeros included.

    Args:
        values: `(n, m)`, in [0, 1].
        n_bins: number of bins.

    Returns:
        `(n, n_bins)`, each row a distribution.
    """
    floor = torch.tensor(lowest).log()
    position = (values.clamp(min=lowest).log() - floor) / -floor * n_bins
    bins = position.long().clamp_(0, n_bins - 1)
    counts = torch.zeros(len(values), n_bins)
    counts.scatter_add_(1, bins, torch.ones(1, 1).expand(bins.shape))
    return counts / values.shape[1]


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """Jensen-Shannon divergence in nats between all rows of `p` and all rows of `q` [Lin 1991].

    `JSD = H((p + q) / 2) - (H(p) + H(q)) / 2`, in [0, log 2].

    Args:
        p: `(n, n_bins)`, rows are distributions.
        q: `(m, n_bins)`, rows are distributions.

    Returns:
        `(n, m)`, never negative.
    """
    out = torch.empty(len(p), len(q))
    rows = max(1, _BLOCK_ELEMENTS // max(1, q.numel()))
    own_p, own_q = entropy(p), entropy(q)
    for start in range(0, len(p), rows):
        stop = start + rows
        mixed = entropy((p[start:stop, None, :] + q[None, :, :]) / 2)
        out[start:stop] = mixed - (own_p[start:stop, None] + own_q[None, :]) / 2
    return out.clamp_(min=0.0)


def entropy(p: Tensor) -> Tensor:
    """Shannon entropy in nats over the last dimension, with `0 log 0 = 0`."""
    terms: Tensor = torch.special.entr(p)
    return terms.sum(-1)
