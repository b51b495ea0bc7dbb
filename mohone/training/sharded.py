"""A training whose entity tables lie in several processes by rows, so that each holds only its share.

Rows and gradients go round by `mohone.core.exchange`. What is kept on the disk is written by all processes
together, by `torch.distributed.checkpoint` in safetensors files: data alone, and no table in one piece.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

from mohone.core.errors import first_line
from mohone.core.exchange import RowExchange
from mohone.core.files import clear, has_its_sums, keep_sums
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.training.module import KGEModule
from mohone.training.resume import parts_of

_PARTS = "parts"  # In a checkpoint: where they lie.
_REST = "rest.pt"  # In a folder of weights: what all processes have.


class ShardedModule(KGEModule):
    """`KGEModule` with each entity table shared out among the Trainer's processes.

    The objective must ask all processes for rows equally often: `NegativeSampling`. At the end the first
    process has the whole tables.
    """

    is_large = True  # Weights and state are kept on the disk.

    def configure_model(self) -> None:
        """In each process: keep its own rows; the rest of the model is the same in all."""
        if self.model.exchange is not None:
            return
        self.model.shard(RowExchange(self.model.n_entities))
        self._ddp_params_and_buffers_to_ignore = [f"model.{name}" for name in self._tables]

    @property
    def _tables(self) -> dict[str, nn.Parameter]:
        return self.model.entity_parameters()

    @property
    def _exchange(self) -> RowExchange:
        assert self.model.exchange is not None
        return self.model.exchange

    @property
    def _by_row(self) -> bool:
        return self.settings.by_row

    def _mrr(self, queries: LinkPrediction) -> float:
        """All processes rank all queries, each among its own entities."""
        return queries.mrr(self.model)

    def save_weights(self, path: Path) -> None:
        """Into a folder, by all processes."""
        tables = {name: table.detach() for name, table in self._tables.items()}
        rest = {name: t for name, t in self.model.state_dict().items() if name not in tables}
        save_parts(path, tables, self._exchange, rest)

    def load_weights(self, path: Path) -> None:
        """The first process takes the whole tables; others keep what they have."""
        if self._exchange.rank:
            return
        whole = {
            name: table.new_empty((self.model.n_entities, *table.shape[1:]), requires_grad=False)
            for name, table in self._tables.items()
        }
        load_whole(path, whole)
        self.model.unshard(whole)
        self.model.load_state_dict(torch.load(path / _REST, weights_only=True), strict=False)

    def fault_of_weights(self, path: Path) -> str | None:
        """Why `load_weights` cannot read a folder, as `it ...`; None: it can."""
        return fault_of_folder(path) or (None if (path / _REST).is_file() else f"has no {_REST}")

    def fault_of_parts(self, state: dict[str, Any]) -> str | None:
        """What is wrong with the folder that a state names."""
        assert self.progress is not None
        if not isinstance(state.get(_PARTS), dict):
            return "it names no folder of its parts"
        folder = self.progress.with_name(state[_PARTS]["folder"])
        fault = fault_of_folder(folder)
        return f"{folder.name} {fault}" if fault else None

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Write what lies in several processes beside the state of the first one, and take it out of that."""
        assert self.progress is not None
        places: dict[str, list[Any]] = {
            f"model.{name}": ["state_dict", f"model.{name}"] for name in self._tables
        }
        states = checkpoint["optimizer_states"][0]["state"]
        for index, table in self._numbered.items():
            if index not in states:  # It stays as it is.
                continue
            states[index] = dict(states[index])  # The optimiser goes on with its own.
            own = [key for key, value in states[index].items() if value.shape == table.shape]
            places |= {
                f"optimizer.{index}.{key}": ["optimizer_states", 0, "state", index, key] for key in own
            }
        parts = {name: _take(checkpoint, place).detach() for name, place in places.items()}
        folder = parts_of(self.progress, self.current_epoch + 1)
        save_parts(folder, parts, self._exchange)
        checkpoint[_PARTS] = {"folder": folder.name, "places": places}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Read it back, this process's rows."""
        assert self.progress is not None
        kept = checkpoint[_PARTS]
        tables: dict[Any, nn.Parameter] = {f"model.{name}": each for name, each in self._tables.items()}
        tables |= self._numbered
        parts = {  # Of the optimiser's, the last but one of a place is the number of its table.
            name: torch.empty_like(tables[name if name in tables else place[-2]], requires_grad=False)
            for name, place in kept["places"].items()
        }
        load_parts(self.progress.with_name(kept["folder"]), parts, self._exchange)
        for name, place in kept["places"].items():
            _put(checkpoint, place, parts[name])

    @property
    def _numbered(self) -> dict[int, nn.Parameter]:
        """The tables by their numbers among the parameters, as the optimiser has them."""
        return {
            number: each
            for number, each in enumerate(self.parameters())
            if any(each is table for table in self._tables.values())
        }


def _take(tree: Any, place: list[Any]) -> Tensor:
    """What is at a place of nested containers, taken out of them."""
    *path, last = place
    for key in path:
        tree = tree[key]
    taken: Tensor = tree.pop(last)
    return taken


def _put(tree: Any, place: list[Any], value: Tensor) -> None:
    *path, last = place
    for key in path:
        tree = tree[key]
    tree[last] = value


def save_parts(
    folder: Path,
    parts: Mapping[str, Tensor],
    exchange: RowExchange,
    rest: Mapping[str, Tensor] | None = None,
) -> None:
    """Write tables of which each process has its rows; called by all of them.

    Args:
        folder: made whole or not at all; one of that name is replaced.
        parts: by name, `(stop - start, ...)` each.
        exchange: says who has which rows.
        rest: what all processes have, by name; None: nothing.
    """
    part = folder.with_name(f".{folder.name}.part")
    if exchange.rank == 0:
        shutil.rmtree(part, ignore_errors=True)
    dist.barrier(exchange.group)
    with _quiet():
        writer = HuggingFaceStorageWriter(str(part), save_distributed=True)
        save(_whole(parts, exchange), storage_writer=writer, process_group=exchange.group)
    if exchange.rank == 0:
        if rest is not None:
            torch.save(dict(rest), part / _REST)
        keep_sums(part)
        clear(folder)
        part.rename(folder)
    dist.barrier(exchange.group)


def fault_of_folder(folder: Path) -> str | None:
    """Why a folder that `save_parts` wrote cannot be read, as `it ...`; None: it can."""
    try:
        return None if has_its_sums(folder) else "is damaged (a file has another checksum)"
    except (OSError, ValueError) as error:
        return f"is damaged ({first_line(error)})"


def load_parts(folder: Path, parts: Mapping[str, Tensor], exchange: RowExchange) -> None:
    """Read what `save_parts` wrote into these rows of each process, however many had written it."""
    with _quiet():
        reader = HuggingFaceStorageReader(str(folder))
        load(_whole(parts, exchange), storage_reader=reader, process_group=exchange.group)


def load_whole(folder: Path, tables: Mapping[str, Tensor]) -> None:
    """Read whole tables of what `save_parts` wrote, in one process and for it alone."""
    with _quiet():
        load(dict(tables), storage_reader=HuggingFaceStorageReader(str(folder)), no_dist=True)


def _whole(parts: Mapping[str, Tensor], exchange: RowExchange) -> dict[str, DTensor]:
    """The parts as what they are parts of."""
    device = next(iter(parts.values())).device.type
    mesh = DeviceMesh(device, torch.arange(exchange.world), _init_backend=exchange.group is not None)
    return {
        name: DTensor.from_local(
            part,
            mesh,
            [Shard(0)],
            run_check=False,
            shape=torch.Size((exchange.n, *part.shape[1:])),
            stride=part.stride(),
        )
        for name, part in parts.items()
    }


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch says of ways that are chosen on purpose."""
    logger = logging.getLogger("torch.distributed.checkpoint")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
