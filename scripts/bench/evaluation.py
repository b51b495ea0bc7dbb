"""Our evaluation of the test split: all three settings from the same scores, as a job does it."""

from __future__ import annotations

import time
from typing import Any

from bench.subjects import load_kg, make_model
from mohone.evaluation.link_prediction import LinkPrediction


def evaluate(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds to rank the whole test split in all three settings, the making of the indices included."""
    kg = load_kg(spec)
    model = make_model(spec["model"], kg, spec["dim"])
    start = time.perf_counter()
    prediction = LinkPrediction(kg, "test")
    built = time.perf_counter()
    ranks = prediction.ranks(model)
    end = time.perf_counter()
    return {
        "index_seconds": built - start,
        "rank_seconds": end - built,
        "evaluate_seconds": end - start,
        "triples": len(kg.test),
        "settings": list(ranks),
    }
