"""The sampled objective: draws from neighbourhoods against shared negatives, in memory linear in nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numba import njit
from torch import Tensor, nn
from torch.nn import functional as F

from mohone.core.parallel import Array, in_chunks
from mohone.netemb.history import LossHistory
from mohone.netemb.pairs import PairBatch

_LARGE = 1e300  # A product of which the logarithm is taken, before it may be infinite.
_HALF = 32  # Bits: of a row's number, and of an entry's place in its batch.
_SMALLEST = 1e-10  # Added to Adagrad's roots.


class SampledObjective(pl.LightningModule):
    """Maximises `sum_u E_{v ~ N(u)} log softmax_v(F(u) . F(v))` (the paper, eq. 1) by draws.

    The softmax's sum over all nodes is estimated from the negatives by importance sampling, beside the drawn
    node itself:

        -log [e^(F(u).F(v)) / (e^(F(u).F(v)) + sum_n e^(F(u).F(n)) / odds_n)]

    Negatives are shared by the batch, and their sum by the draws of a node; only touched rows are read and
    written, once a step, by row-wise Adagrad, whose learning rate falls linearly to 0. It divides a row's
    gradient by the root of the sum of its mean squares so far, one number a row, which reads half as much
    as Adagrad of each number and learns no less (docs/networks.md). On the CPU alone.

    Args:
        n_nodes: rows of F.
        dim: columns of F.
        lr: the first learning rate.

    Attributes:
        n_steps: those in which the learning rate falls to 0; it stays there.
    """

    n_steps = 1

    def __init__(self, n_nodes: int, dim: int, lr: float) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.lr = lr
        first = _by_numpy(n_nodes, dim).normal_().mul_(1 / dim**0.5)
        self.vectors = nn.Parameter(first, requires_grad=False)
        self.history = LossHistory(lr, "netemb.sampled_lr")
        self.squares = torch.zeros(n_nodes)
        self._step = 0
        self._threads = 1

    def on_fit_start(self) -> None:
        """Products on one core, so that sums are the same on any number; rows are written on all."""
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)

    @torch.no_grad()
    def training_step(self, batch: PairBatch, batch_idx: int) -> None:  # noqa: ARG002
        """Learn from a batch."""
        loss, own, pulls, negative = self.gradients(batch)
        self.history.add(loss, len(batch.nodes))
        lr = self.lr * max(0.0, 1 - self._step / self.n_steps)
        self._step += 1
        adagrad_step(self.vectors.data, self.squares, batch, own, pulls, negative, lr, self._threads)

    def gradients(self, batch: PairBatch) -> tuple[float, Tensor, Tensor, Tensor]:
        """The loss (nats a node) and the gradients of its sum.

        Returns:
            the loss; the gradients by the nodes' vectors `(batch, dim)`; factors of the node's vector in the
            gradient by each draw's `(batch, n_draws)`; the gradients by the negatives' `(n_negatives, dim)`.
        """
        nodes, negatives = F.embedding(batch.nodes, self.vectors), F.embedding(batch.negatives, self.vectors)
        logits = nodes @ negatives.T - batch.odds
        rest = logits.logsumexp(1, keepdim=True)
        chances = logits.sub_(rest).exp_()
        own = chances @ negatives
        pulls, losses = torch.zeros(batch.draws.shape), torch.zeros(len(nodes))
        shares = _pull(self.vectors, nodes, batch.draws, rest, pulls, losses, own)
        return float(losses.double().sum()) / len(nodes), own, pulls, chances.T @ (nodes * shares[:, None])

    def on_train_epoch_end(self) -> None:
        """Log the epoch's mean loss; stop if it is not finite."""
        self.log("train/loss", self.history.close(self.current_epoch + 1), prog_bar=True)

    def configure_optimizers(self) -> Any:
        """None of Lightning's."""
        return None


def _by_numpy(n: int, width: int) -> Tensor:
    """Zeros in memory of NumPy's, which asks the system for large pages.

    Rows are looked up here and there: with pages of 4 KB the processor looks up their addresses, too, and of
    four million nodes a step takes a tenth longer.
    """
    return torch.from_numpy(np.zeros((n, width), np.float32))


def _pull(
    table: Tensor, nodes: Tensor, draws: Tensor, rest: Tensor, pulls: Tensor, losses: Tensor, own: Tensor
) -> Tensor:
    """The draws' part of the loss and of the gradients, each draw's vector being read once.

    Args:
        table: all vectors.
        nodes: `(batch, dim)`.
        draws: `(batch, n_draws)`.
        rest: `(batch, 1)` the logarithm of the negatives' sum.
        pulls, losses: set, see `SampledObjective.gradients`; losses by node.
        own: `(batch, dim)` the mean of the negatives' vectors; set to the gradient.

    Returns:
        how much the negatives' part of the gradients counts, by node: `(batch,)`.
    """
    shares = torch.zeros(len(nodes))
    arrays = [each.detach().numpy() for each in (table, nodes, draws, rest, pulls, losses, own, shares)]
    in_chunks(lambda start, stop: _pull_loop(*arrays, start, stop), len(nodes))
    return shares


def adagrad_step(
    table: Tensor,
    squares: Tensor,
    batch: PairBatch,
    own: Tensor,
    pulls: Tensor,
    negative: Tensor,
    lr: float,
    threads: int = 1,
) -> None:
    """A step of row-wise Adagrad on the touched rows, each with all its gradients together, in their order.

    Args:
        table: `(n_nodes, dim)`, the vectors; changed.
        squares: `(n_nodes,)`, the sums of the mean squares of their gradients; changed.
        batch: of nodes, draws and negatives.
        own, pulls, negative: as `SampledObjective.gradients` returns them.
        lr: the learning rate.
        threads: that share the rows.
    """
    n_draws = batch.draws.shape[1]
    rows = torch.cat([batch.nodes, batch.negatives, batch.draws.flatten()]).numpy()
    keys = (rows << _HALF) | np.arange(len(rows))  # Sorted by row, then place: with both in one number, fast.
    keys.sort()
    keys = keys[np.searchsorted(keys, 0) :]  # No draw, no row.
    order, starts = keys & ((1 << _HALF) - 1), np.flatnonzero(np.diff(keys >> _HALF, prepend=-1, append=-1))
    # Read before any row is written: a row may be a node, a draw and a negative at once.
    nodes = F.embedding(batch.nodes, table)
    tensors = [x.numpy() for x in (nodes, own, negative, pulls.view(-1))]
    arrays = [table.numpy(), squares.numpy(), rows, order, starts, *tensors]

    def loop(start: int, stop: int) -> None:
        _adagrad_loop(*arrays, n_draws, np.float32(lr), start, stop)

    in_chunks(loop, len(starts) - 1, threads=threads)


@njit(cache=True, nogil=True, fastmath=True)
def _dot(a: Array, b: Array) -> Any:
    total = np.float32(0.0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _pull_loop(
    table: Array,
    nodes: Array,
    draws: Array,
    rest: Array,
    pulls: Array,
    losses: Array,
    own: Array,
    shares: Array,
    start: int,
    stop: int,
) -> None:
    lead, gradient = np.empty(draws.shape[1], np.float32), np.empty(nodes.shape[1], np.float32)
    for i in range(start, stop):
        n_there, loss, product = 0, 0.0, 1.0
        for j in range(len(lead)):  # Of all draws first: memory then looks for several vectors at once.
            if draws[i, j] >= 0:
                n_there += 1
                lead[j] = _dot(nodes[i], table[draws[i, j]]) - rest[i, 0]
        gradient[:] = 0.0
        for j in range(len(lead)):
            if draws[i, j] < 0:
                continue
            # log(1 + e^-lead) and its derivative, of whatever sign; of logarithms, that of the product.
            small = np.exp(-abs(lead[j]))
            loss += max(-lead[j], np.float32(0.0))
            product *= np.float32(1.0) + small
            if product > _LARGE:
                loss, product = loss + math.log(product), 1.0
            chance = (small if lead[j] > 0 else np.float32(1.0)) / (np.float32(1.0) + small)
            pull = np.float32(chance / n_there)
            shares[i] += pull
            pulls[i, j] = -pull
            row = table[draws[i, j]]
            for k in range(len(row)):
                gradient[k] -= pull * row[k]
        losses[i] = (loss + math.log(product)) / max(1, n_there)
        for k in range(len(gradient)):
            own[i, k] = own[i, k] * shares[i] + gradient[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _adagrad_loop(
    table: Array,
    squares: Array,
    rows: Array,
    order: Array,
    starts: Array,
    nodes: Array,
    own: Array,
    negative: Array,
    pulls: Array,
    n_draws: int,
    lr: np.float32,
    start: int,
    stop: int,
) -> None:
    n, n_negatives, dim = len(own), len(negative), table.shape[1]
    gradient = np.empty(dim, np.float32)
    for i in range(start, stop):
        gradient[:] = 0.0
        for entry in order[starts[i] : starts[i + 1]]:
            if entry < n:
                for k in range(dim):
                    gradient[k] += own[entry, k]
            elif entry < n + n_negatives:
                for k in range(dim):
                    gradient[k] += negative[entry - n, k]
            else:
                draw = entry - n - n_negatives
                for k in range(dim):
                    gradient[k] += pulls[draw] * nodes[draw // n_draws, k]
        row = rows[order[starts[i]]]
        squares[row] += _dot(gradient, gradient) / np.float32(dim)
        step = lr / (math.sqrt(squares[row]) + np.float32(_SMALLEST))
        for k in range(dim):
            table[row, k] -= step * gradient[k]
