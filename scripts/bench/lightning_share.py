"""What Lightning costs: the same steps in a plain loop and through it.

Both run in turns in one process, because the difference is smaller than that between two processes.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import torch

from bench.clock import Clock, warmup_of
from bench.subjects import LEARNING_RATE, count_batch, first_epoch, load_kg, make_model, make_objective
from bench.training import train_by_lightning
from mohone.kge import KGEModel
from mohone.kge.base import make_gradients_dense
from mohone.training import Objective
from mohone.training.objective import Batches

_ROUNDS = 3


def train_plainly(model: KGEModel, objective: Objective, batches: Batches, clock: Clock) -> None:
    """The loop that Lightning runs for us, written out."""
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)
    model.train()
    clock.start()
    for batch in batches:
        with model.sparse_gradients():
            loss = objective.loss(model, batch)
        optimizer.zero_grad()
        loss.backward()
        make_gradients_dense(model)
        optimizer.step()
        model.constrain()
        if clock.tick(partial(count_batch, batch, model.n_entities)):
            break


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Milliseconds of a step without and with Lightning, in turns, each the median of three times."""
    kg, objective = load_kg(spec), make_objective(spec["objective"], spec["model"])
    _, batches, _ = first_epoch(kg, objective, spec["batch_size"])
    warmup, each = warmup_of(len(batches)), spec["seconds"] / (2 * _ROUNDS)

    def run(plain: bool, steps: int | None) -> list[float]:
        clock = Clock(each, warmup, steps)
        model = make_model(spec["model"], kg, spec["dim"])
        if plain:
            train_plainly(model, objective, batches, clock)
        else:
            train_by_lightning(model, kg, objective, spec["batch_size"], clock)
        return clock.times

    steps = len(run(plain=True, steps=None))
    milliseconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(_ROUNDS):
        for plain in (True, False):
            milliseconds[plain].append(1e3 * statistics.mean(run(plain, steps)))
    with_it, without = (statistics.median(milliseconds[plain]) for plain in (False, True))
    return {
        "steps_timed": steps,
        "plain_step_ms": without,
        "lightning_step_ms": with_it,
        "lightning_percent": 100 * (1 - without / with_it),
        "plain_rounds_ms": milliseconds[True],
        "lightning_rounds_ms": milliseconds[False],
    }
