"""Rows that other processes hold, and their gradients; few imports, since each process has its own."""

from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from mohone.core.exchange import RowExchange

IDS = [[9, 1, 1, 4], [0, 4, 9, 2], [4, 4, 4, 4]]


def _exchange(rank: int, folder: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=len(IDS))
    exchange = RowExchange(10)
    whole = torch.arange(30.0).view(10, 3)
    table = torch.nn.Parameter(exchange.own(whole))
    rows = exchange.lookup(table, torch.tensor(IDS[rank]))
    assert torch.equal(rows, whole[IDS[rank]])
    (rows * (rank + 1)).sum().backward()
    expected = torch.zeros(10, 3)
    for other, ids in enumerate(IDS):
        for row in ids:
            expected[row] += (other + 1) / len(IDS)
    torch.testing.assert_close(table.grad.to_dense(), expected[exchange.start : exchange.stop])  # type: ignore[union-attr]
    with exchange.alone():
        own = torch.arange(exchange.start, exchange.stop)
        assert torch.equal(exchange.lookup(table, own), whole[exchange.start : exchange.stop])


def test_rows_and_gradients_go_where_they_belong(tmp_path: Path) -> None:
    mp.spawn(_exchange, args=(str(tmp_path),), nprocs=len(IDS))
