"""Tables whose rows lie in several processes: each holds a run of them, and asks the others for the rest.

Ids, rows and gradients go round by `torch.distributed.all_to_all_single` (gloo or nccl): no process ever sees
a table whole. All processes must ask equally often, in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor


class Route(NamedTuple):
    """Who asks whom for which rows.

    Attributes:
        inverse: `(batch,)` where among the distinct ids each asked one is.
        wanted: `(world,)` how many distinct rows each process is asked for.
        asked: `(world,)` how many rows each process asks of this one.
        rows: `(sum(asked),)` which of its own rows those are.
    """

    inverse: Tensor
    wanted: list[int]
    asked: list[int]
    rows: Tensor


class RowExchange:
    """Which process holds which rows of tables of `n` rows: the r-th the r-th run of `ceil(n / world)`.

    These are the runs that DTensor's `Shard(0)` makes.

    Args:
        n: rows of the whole tables.
        group: of processes; None: all.

    Attributes:
        start, stop: the rows that this process holds.
    """

    def __init__(self, n: int, group: dist.ProcessGroup | None = None) -> None:
        self.n, self.group = n, group
        self.rank, self.world = dist.get_rank(group), dist.get_world_size(group)
        self.run = -(-n // self.world)
        self.start = min(n, self.rank * self.run)
        self.stop = min(n, self.start + self.run)
        self._alone = False

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """In the block only rows of its own are asked for, and nobody else is."""
        self._alone = True
        try:
            yield
        finally:
            self._alone = False

    def own(self, table: Tensor) -> Tensor:
        """The rows of a whole table that this process holds, copied: `(stop - start, ...)`."""
        return table[self.start : self.stop].clone()

    def lookup(self, table: Tensor, ids: Tensor) -> Tensor:
        """Rows of the whole table, whoever holds them.

        The gradient is sparse, the sum over all processes that asked, divided by their number: as where each
        has the whole table and gradients are averaged.

        Args:
            table: `(stop - start, width)`, this process's part.
            ids: `(batch,)` of the whole table.

        Returns:
            `(batch, width)`.
        """
        if self._alone:
            return table[ids - self.start]
        rows: Tensor = _Lookup.apply(table, self.route(ids), self)  # type: ignore[no-untyped-call]
        return rows

    def route(self, ids: Tensor) -> Route:
        """Tell each process which of its rows are wanted here, and learn which are wanted of this one."""
        distinct, inverse = torch.unique(ids, return_inverse=True)  # Ascending: those of a process together.
        ends = torch.searchsorted(distinct, torch.arange(1, self.world + 1, device=ids.device) * self.run)
        counts = torch.diff(ends, prepend=ends.new_zeros(1))
        theirs = torch.empty_like(counts)
        dist.all_to_all_single(theirs, counts, group=self.group)
        wanted, asked = counts.tolist(), theirs.tolist()
        rows = distinct.new_empty(sum(asked))
        dist.all_to_all_single(rows, distinct, asked, wanted, group=self.group)
        return Route(inverse, wanted, asked, rows - self.start)

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all processes of tensors of one shape, in place."""
        dist.all_reduce(values, group=self.group)
        return values


class _Lookup(torch.autograd.Function):
    """`RowExchange.lookup`: rows go where they are wanted, and gradients the same way back."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, route: Route, exchange: RowExchange) -> Tensor:
        ctx.route, ctx.exchange, ctx.shape = route, exchange, table.shape
        found = table.new_empty(sum(route.wanted), *table.shape[1:])
        dist.all_to_all_single(found, table[route.rows], route.wanted, route.asked, group=exchange.group)
        return found[route.inverse]

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Tensor | None, ...]:
        route, exchange = ctx.route, ctx.exchange
        gradient = grad_outputs[0]
        summed = gradient.new_zeros(sum(route.wanted), *gradient.shape[1:])
        summed.index_add_(0, route.inverse, gradient)
        theirs = gradient.new_empty(sum(route.asked), *gradient.shape[1:])
        dist.all_to_all_single(theirs, summed, route.asked, route.wanted, group=exchange.group)
        theirs /= exchange.world
        sparse = torch.sparse_coo_tensor(route.rows[None], theirs, ctx.shape, check_invariants=False)
        return sparse, None, None
