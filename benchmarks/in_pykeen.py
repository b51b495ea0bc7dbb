"""PyKEEN's training and evaluation, by its own loops, of the models that both have.

Training is `SLCWATrainingLoop.train` on the whole train split with the default sampler; a callback ticks a
clock at the end of each batch and ends the training by an exception when enough were timed. So a timed step
has all that a step of PyKEEN's has, its sampling too, and set-up is left out. To compare like with like, it
gets our optimiser (fused Adam), Euclidean distances where it lets one choose the norm, square matrices in
TransR, and no regulariser; losses and constraints are PyKEEN's own for each model.

Evaluation is `RankBasedEvaluator.evaluate`, filtered, on two samples of test triples; the time of the whole
split is on the straight line through both, so that the making of the filter counts once. As PyKEEN scores
entities by broadcasting, its speed hangs on the batch size: `probe` finds the best of a few beforehand.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import torch
from pykeen.evaluation import RankBasedEvaluator
from pykeen.models import Model, model_resolver
from pykeen.regularizers import NoRegularizer
from pykeen.training import SLCWATrainingLoop
from pykeen.training.callbacks import TrainingCallback
from pykeen.triples import CoreTriplesFactory

from benchmarks.clock import Clock, extrapolate
from benchmarks.ours import LEARNING_RATE, load_kg
from mohone.data import KnowledgeGraph

_EUCLIDEAN = {"scoring_fct_norm": 2}
_ARGUMENTS: dict[str, dict[str, Any]] = {"transe": _EUCLIDEAN, "transh": _EUCLIDEAN, "transr": _EUCLIDEAN}
_REGULARISERS = {
    "transh": ("regularizer", "relation_regularizer"),
    "rescal": ("regularizer",),
    "distmult": ("regularizer",),
    "complex": ("regularizer",),
}
_BATCH_SIZES = (16, 64, 256)


class _Enough(Exception):  # noqa: N818
    """Enough steps were timed."""


class _Ticks(TrainingCallback):
    def __init__(self, clock: Clock, negatives: int) -> None:
        super().__init__()
        self.clock, self.negatives = clock, negatives

    def post_batch(self, epoch: int, batch: Any, **kwargs: Any) -> None:  # noqa: ARG002
        n = len(batch["positives"])
        if self.clock.tick(lambda: (n, n * (1 + self.negatives))):
            raise _Enough


def train(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds of an epoch and scored candidates a second."""
    kg = load_kg(spec)
    factory = _factory(kg)
    model = _make_model(spec, factory)
    clock = Clock(spec["seconds"], -(-len(kg.train) // spec["batch_size"]))
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=factory,
        optimizer=torch.optim.Adam(list(model.get_grad_params()), lr=LEARNING_RATE, fused=True),
        negative_sampler_kwargs={"num_negs_per_pos": spec["negatives"]},
        automatic_memory_optimization=False,
    )
    clock.start()
    with contextlib.suppress(_Enough):
        loop.train(
            factory,
            num_epochs=1,
            batch_size=spec["batch_size"],
            use_tqdm=False,
            callbacks=_Ticks(clock, spec["negatives"]),
        )
    return clock.epoch(len(kg.train))


def probe(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds to evaluate a few test triples with each batch size, and the quickest of them."""
    kg, evaluate = _evaluation(spec)
    n = min(max(_BATCH_SIZES), len(kg.test))
    seconds = {}
    for size in _BATCH_SIZES:
        try:
            evaluate(min(size, n), size)  # Memory is touched for the first time.
            seconds[size] = evaluate(n, size)
        except (MemoryError, RuntimeError):  # Too large.
            break
    return {"batch_size": min(seconds, key=seconds.__getitem__), "triples": n, "seconds": seconds}


def evaluate(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds to rank the whole test split, scaled from two samples of it."""
    kg, evaluate = _evaluation(spec)
    large = min(spec["pykeen_test"], len(kg.test))
    sizes = (max(1, large // 2), large)
    size = spec["batch_size"]
    evaluate(size, size)
    seconds = (evaluate(sizes[0], size), evaluate(sizes[1], size))
    return {
        "batch_size": size,
        "samples": list(sizes),
        "sample_seconds": list(seconds),
        "triples": len(kg.test),
        "evaluate_seconds": extrapolate(sizes, seconds, len(kg.test)),
    }


def _evaluation(spec: dict[str, Any]) -> tuple[KnowledgeGraph, Callable[[int, int], float]]:
    """The data set, and a function from the number of test triples and the batch size to seconds."""
    kg = load_kg(spec)
    model = _make_model(spec, _factory(kg))
    evaluator = RankBasedEvaluator(filtered=True)
    sample = kg.test[torch.randperm(len(kg.test), generator=torch.Generator().manual_seed(0))]

    def seconds(n: int, batch_size: int) -> float:
        start = time.perf_counter()
        evaluator.evaluate(
            model,
            sample[:n],
            batch_size=batch_size,
            additional_filter_triples=[kg.train, kg.valid, kg.test],
            use_tqdm=False,
        )
        return time.perf_counter() - start

    return kg, seconds


def _factory(kg: KnowledgeGraph) -> CoreTriplesFactory:
    return CoreTriplesFactory(kg.train, num_entities=kg.n_entities, num_relations=kg.n_relations)


def _make_model(spec: dict[str, Any], factory: CoreTriplesFactory) -> Model:
    # Instances: the arguments of PyKEEN's own regularisers would go to one that is only named.
    without = {name: NoRegularizer() for name in _REGULARISERS.get(spec["model"], ())}
    arguments = {**_ARGUMENTS.get(spec["model"], {}), **without}
    if spec["model"] == "transr":
        arguments["relation_dim"] = spec["dim"]
    return model_resolver.make(
        spec["model"], triples_factory=factory, embedding_dim=spec["dim"], random_seed=0, **arguments
    )
