"""The LightningDataModule of a train split: whole batches, in an order of its own in each epoch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, IterableDataset

from mohone.data import KnowledgeGraph
from mohone.training.objective import Batches, Examples, Objective, Share


class TripleDataModule(pl.LightningDataModule):
    """Whole batches of the train split; the order of an epoch depends on seed and epoch alone.

    Args:
        kg: the data set.
        objective: says what a batch is.
        batch_size: examples of a step of all processes together.
        seed: of the order, and of what is drawn.
        relation_block: examples of one relation that the model likes to stay together.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        objective: Objective,
        batch_size: int,
        seed: int,
        relation_block: int = 1,
    ) -> None:
        super().__init__()
        self.kg, self.objective, self.batch_size, self.seed = kg, objective, batch_size, seed
        self.relation_block = relation_block

    def epoch_seed(self, epoch: int) -> int:
        """What all that is random in an epoch depends on."""
        return self.seed * 1_000_003 + epoch

    @cached_property
    def examples(self) -> Examples:
        """The train split as the objective uses it."""
        return self.objective.examples(self.kg, self.relation_block)

    def epoch(self) -> Batches:
        """The batches of the Trainer's epoch (without a Trainer: of the first), on its device."""
        number, share = 0, Share()
        if self.trainer is not None:
            number = self.trainer.current_epoch
            share = Share(
                self.trainer.strategy.root_device, self.trainer.global_rank, self.trainer.world_size
            )
        generator = torch.Generator().manual_seed(self.epoch_seed(number))
        return self.examples.epoch(self.batch_size, generator, share)

    def train_dataloader(self) -> DataLoader[Any]:
        """Batches that are drawn anew each time they are gone through, whether or not it is reloaded."""
        return _loader(_Epochs(self))

    def val_dataloader(self) -> DataLoader[Any]:
        """One batch: the validation triples are ranked all at once, in chunks of the evaluation's own."""
        return _loader(_Once(self.kg.valid))

    def test_dataloader(self) -> DataLoader[Any]:
        """The same for the test triples."""
        return _loader(_Once(self.kg.test))


class _Epochs(IterableDataset[Any]):
    """The batches of whatever epoch it is when the first of them is wanted.

    Not when an iterator is made: a Trainer that goes on from a checkpoint makes it before it knows its epoch.
    """

    def __init__(self, data: TripleDataModule) -> None:
        self.data = data

    def __len__(self) -> int:
        return self.data.examples.n_batches(self.data.batch_size)

    def __iter__(self) -> Iterator[Any]:
        yield from self.data.epoch()


class _Once(IterableDataset[Any]):
    """One batch."""

    def __init__(self, batch: torch.Tensor) -> None:
        self.batch = batch

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        return iter([self.batch])


def _loader(batches: IterableDataset[Any]) -> DataLoader[Any]:
    """Of whole batches; it leaves torch's own generator alone, which is dropout's."""
    return DataLoader(batches, batch_size=None, generator=torch.Generator())
