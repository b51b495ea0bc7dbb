"""The folders of a training in several processes: whole, or known to be damaged."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from mohone.core.exchange import RowExchange
from mohone.training.sharded import fault_of_folder, load_whole, save_parts

TABLE = torch.arange(12.0).reshape(6, 2)


@pytest.fixture
def exchange() -> Iterator[RowExchange]:
    """Of this process alone."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield RowExchange(len(TABLE))
    dist.destroy_process_group()


def tables_of(folder: Path) -> Path:
    (path,) = folder.glob("*.safetensors")
    return path


def another_bit(folder: Path) -> None:
    path = tables_of(folder)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "another bit": another_bit,
    "no tables": lambda folder: tables_of(folder).unlink(),
    "cut tables": lambda folder: tables_of(folder).write_bytes(tables_of(folder).read_bytes()[:-3]),
    "no rest": lambda folder: (folder / "rest.pt").unlink(),
    "no checksums": lambda folder: (folder / "sums.json").unlink(),
    "binary checksums": lambda folder: (folder / "sums.json").write_bytes(b"\xff\x00"),
    "all away": lambda folder: [path.unlink() for path in folder.iterdir()],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_folder_is_known_and_written_anew(
    tmp_path: Path, exchange: RowExchange, damage: str
) -> None:
    folder = tmp_path / "p.best"
    folder.write_text("a file in its place")
    for _ in range(2):
        save_parts(folder, {"entity": TABLE}, exchange, {"relation": torch.ones(2)})
        assert fault_of_folder(folder) is None
        read = {"entity": torch.zeros(6, 2)}
        load_whole(folder, read)
        assert torch.equal(read["entity"], TABLE)
        DAMAGE[damage](folder)
        assert str(fault_of_folder(folder)).startswith("is damaged (")


def test_a_file_or_nothing_in_its_place_is_known(tmp_path: Path) -> None:
    assert str(fault_of_folder(tmp_path / "p.best")).startswith("is damaged (")
    (tmp_path / "p.best").touch()
    assert str(fault_of_folder(tmp_path / "p.best")).startswith("is damaged (")
