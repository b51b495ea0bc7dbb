"""Our evaluation of the test split: all three settings from the same scores, as a job does it."""

from __future__ import annotations

import time
from typing import Any

from bench.subjects import load_graph, make_model
from mohone.evaluation.link_prediction import LinkPrediction


def evaluate(spec: dict[str, Any]) -> dict[str, Any]:
    """Seconds to rank the whole test split in all three settings, the making of the indices included."""
    graph = load_graph(spec)
    model = make_model(spec["model"], graph, spec["dim"])
    start = time.perf_counter()
    prediction = LinkPrediction(graph, "test")
    built = time.perf_counter()
    ranks = prediction.ranks(model)
    end = time.perf_counter()
    return {
        "index_seconds": built - start,
        "rank_seconds": end - built,
        "evaluate_seconds": end - start,
        "triples": len(graph.test),
        "settings": list(ranks),
    }
