"""Which measurements there are, in an order that puts side by side what is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MODELS = ("transe", "transh", "transr", "transd", "rescal", "distmult", "complex", "analogy")
DOT_PRODUCT = ("rescal", "distmult", "complex", "analogy")
IN_PYKEEN = tuple(name for name in MODELS if name != "analogy")
ONE_VS_ALL = ("transe", *DOT_PRODUCT)
LIGHTNING = {"transe": "negative_sampling", "distmult": "one_vs_all"}
QUALITY = {"transe": ("negative_sampling", 0.28), "complex": ("one_vs_all", 0.34)}
SHARED_NEGATIVES = 512
KINDS = (
    "ours_train",
    "pykeen_train",
    "floor_train",
    "ours_evaluate",
    "floor_evaluate",
    "pykeen_probe",
    "pykeen_evaluate",
    "lightning",
    "quality",
)
_FALLBACK_BATCH = 16


@dataclass(frozen=True)
class Options:
    """What is measured and how long.

    Attributes:
        models: names in `MODELS`.
        only: names in `KINDS`.
        dataset: a data set of the package; None: `data_dir/dataset_folder`.
        seconds: of timed steps in a measurement of training.
        threads: of torch.
        negatives: of PyKEEN, for each triple.
        pykeen_test: test triples of the larger of its two samples.
        time_limit: seconds of a measurement, its start included.
        quality_limit: the same of a training to quality.
        memory_gb: limit of a measurement's memory.
    """

    models: tuple[str, ...]
    only: tuple[str, ...]
    dataset: str | None
    data_dir: str
    dataset_folder: str
    dim: int
    batch_size: int
    seconds: float
    threads: int
    negatives: int
    pykeen_test: int
    time_limit: float
    quality_limit: float
    memory_gb: float
    pykeen: bool
    quality: bool


def plan(options: Options) -> list[dict[str, Any]]:
    """What to measure: `kind`, `model` and, where there is one, `objective` and more."""
    return [item for item in _plan(options) if item["kind"] in options.only]


def _plan(options: Options) -> Iterator[dict[str, Any]]:
    for model in options.models:
        pykeen = options.pykeen and model in IN_PYKEEN
        yield {"kind": "ours_train", "model": model, "objective": "negative_sampling"}
        if pykeen:
            yield {"kind": "pykeen_train", "model": model, "objective": "negative_sampling"}
        if model in ONE_VS_ALL:
            yield {"kind": "ours_train", "model": model, "objective": "one_vs_all"}
        if model in DOT_PRODUCT:
            yield {"kind": "floor_train", "model": model, "objective": "one_vs_all"}
        yield {"kind": "ours_evaluate", "model": model}
        if model in DOT_PRODUCT:
            yield {"kind": "floor_evaluate", "model": model}
        if pykeen:
            yield {"kind": "pykeen_probe", "model": model}
            yield {"kind": "pykeen_evaluate", "model": model}
    for model, objective in LIGHTNING.items():
        if model in options.models:
            yield {"kind": "lightning", "model": model, "objective": objective}
    for model, (objective, target) in QUALITY.items():
        if options.quality and model in options.models:
            yield {"kind": "quality", "model": model, "objective": objective, "target": target}


def full_spec(
    item: dict[str, Any], options: Options, records: list[dict[str, Any]]
) -> tuple[dict[str, Any], float]:
    """What a child is told, and its time limit.

    Args:
        item: of the plan.
        options: of the run.
        records: what was measured before: PyKEEN's evaluation has the batch size of its probe.
    """
    common = (
        "dataset",
        "data_dir",
        "dataset_folder",
        "dim",
        "batch_size",
        "seconds",
        "threads",
        "negatives",
        "pykeen_test",
        "memory_gb",
    )
    spec = {**{name: getattr(options, name) for name in common}, **item}
    if item["kind"] == "pykeen_evaluate":
        spec["batch_size"] = probed_batch(item["model"], records)
    limit = options.quality_limit if item["kind"] == "quality" else options.time_limit
    return spec, limit


def probed_batch(model: str, records: list[dict[str, Any]]) -> int:
    """The quickest batch size of PyKEEN's evaluation, a small one where the probe failed."""
    for record in records:
        if (record["kind"], record["model"]) == ("pykeen_probe", model) and "result" in record:
            return int(record["result"]["batch_size"])
    return _FALLBACK_BATCH
