"""Nodes with draws from their neighbourhoods, and shared negatives: the batches of the sampled objective."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import IterableDataset

from mohone.graph.network import Network
from mohone.netemb.neighborhood import Neighborhood

_AHEAD = 3  # Batches drawn while the model learns.


class PairBatch(NamedTuple):
    """Distinct nodes `(batch,)`, draws of each `(batch, n_draws)` (-1: none), and negatives of all of them.

    `odds` `(n_negatives,)` is the log of how often each negative is expected among the negatives.
    """

    nodes: Tensor
    draws: Tensor
    negatives: Tensor
    odds: Tensor


class PairBatches(IterableDataset[PairBatch]):
    """Batches of a pass over the nodes, drawn in a thread of their own while the model learns.

    Negatives are drawn by `(1 + degree)^0.75`, which is corrected for in the loss: the softmax runs over all
    nodes, and those with many neighbours make up most of it.

    Args:
        neighborhood: has observed `network`.
        network: of the nodes; isolated ones ask nothing.
        batch_size: nodes of a step.
        n_draws: of each node and pass.
        n_negatives: of each step.
        generator: each pass continues its sequence.
    """

    def __init__(
        self,
        neighborhood: Neighborhood,
        network: Network,
        batch_size: int,
        n_draws: int,
        n_negatives: int,
        generator: torch.Generator,
    ) -> None:
        self._neighborhood, self._generator = neighborhood, generator
        self._nodes = network.connected
        self._batch_size, self._n_draws, self._n_negatives = batch_size, n_draws, n_negatives
        mass = (1.0 + network.degrees.double()).pow(0.75)
        self._running = mass.cumsum(0)
        self._odds = (n_negatives * mass / mass.sum()).log().float()

    def __len__(self) -> int:
        return -(-len(self._nodes) // self._batch_size)

    def __iter__(self) -> Iterator[PairBatch]:
        order = self._nodes[torch.randperm(len(self._nodes), generator=self._generator)]
        # One thread, so that the generator's numbers fall to the batches in their order.
        with ThreadPoolExecutor(1) as pool:
            waiting: list[Future[PairBatch]] = []
            for nodes in order.split(self._batch_size):
                waiting.append(pool.submit(self.draw, nodes, self._generator))
                if len(waiting) > _AHEAD:
                    yield waiting.pop(0).result()
            for batch in waiting:
                yield batch.result()

    def draw(self, nodes: Tensor, generator: torch.Generator) -> PairBatch:
        """A batch of these nodes."""
        draws = self._neighborhood.sample(nodes.repeat_interleave(self._n_draws), generator)
        chance = torch.rand(self._n_negatives, generator=generator, dtype=torch.float64)
        negatives = torch.searchsorted(self._running, chance * self._running[-1], right=True)
        negatives.clamp_(max=len(self._running) - 1)
        return PairBatch(nodes, draws.view(len(nodes), -1), negatives, self._odds[negatives])
