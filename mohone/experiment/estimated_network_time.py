"""How long a network embedding will take: some rows or draws and some steps are measured, and multiplied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from mohone.experiment.stages.runner import Runner
from mohone.experiment.stopwatch import Stopwatch, Time, seconds_of
from mohone.netemb import StructuralRole
from mohone.netemb.exact import NodeBatches
from mohone.netemb.learn import Lesson, lesson_of
from mohone.netemb.pairs import PairBatches
from mohone.netemb.rows import BLOCK
from mohone.netemb.shnb import SharedNeighborhood

NewTrainer = Callable[..., pl.Trainer]
_BLOCKS = 8  # Blocks of a neighbourhood's rows that are measured.


def time_of_network(runner: Runner, new_trainer: NewTrainer) -> Time:
    """The neighbourhoods' rows or draws, and the steps by which vectors are learned.

    Args:
        runner: of the job.
        new_trainer: for some steps, told to a stopwatch.
    """
    embedding, seed = runner.plan.embedding, runner.plan.seed
    assert embedding is not None
    learner, network = embedding.learner, runner.plan.network(runner.kg)
    n, neighborhood, factor = network.n_nodes, embedding.neighborhood, 1.0
    if isinstance(neighborhood, StructuralRole):  # All at once or not at all; the heat takes half of it.
        neighborhood, factor = SharedNeighborhood(neighborhood.scales, neighborhood.laplacian), 2.0
    neighborhood.fit(network, seed)
    lesson = lesson_of(network, neighborhood, learner, seed, _SomeRows(n))
    if not len(lesson.batches):
        return Time(0.0, "no edge")
    n_steps = lesson.n_passes * len(lesson.batches)
    step = _seconds_of_step(new_trainer, lesson)
    steps = f"{1000 * step:.3g} ms a step x {n_steps:,}"
    if learner.objective_for(n) == "sampled":
        return Time(n_steps * step, steps)
    blocks = torch.arange(n).split(BLOCK)[:_BLOCKS]
    neighborhood.weights(blocks[0])
    rows = factor * seconds_of(lambda: [neighborhood.weights(block) for block in blocks])
    rows *= n / sum(map(len, blocks))
    return Time(rows + n_steps * step, f"{rows:.2g} s of rows + {steps}")


def _seconds_of_step(new_trainer: NewTrainer, lesson: Lesson) -> float:
    """Seconds of a usual step; see `mohone.netemb.learn`."""
    watch, n_threads = Stopwatch(), torch.get_num_threads()
    try:
        batches = DataLoader(_Endless(lesson.batches), batch_size=None)
        new_trainer(watch, **lesson.place).fit(lesson.module, batches)
    finally:
        torch.set_num_threads(n_threads)
    return watch.step


class _SomeRows:
    """Rows of no neighbourhood, as quickly looked up as those of one."""

    def __init__(self, n_nodes: int) -> None:
        self._matrix = torch.full((min(n_nodes, 1024), n_nodes), 1 / n_nodes)

    def to(self, device: torch.device) -> None:
        """Move the rows to a device."""
        self._matrix = self._matrix.to(device)

    def __getitem__(self, nodes: Tensor) -> Tensor:
        return self._matrix[nodes % len(self._matrix)]


class _Endless(IterableDataset[Any]):
    """Batches without an end."""

    def __init__(self, batches: NodeBatches | PairBatches) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from self._batches
