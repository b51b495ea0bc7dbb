"""How time and memory grow with the graph, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mohone.core.errors import ConfigError
from mohone.reporting.plotting import new_figure, save_figure


def draw(records: list[dict[str, Any]], path: Path) -> bool:
    """Write a PNG of the growth; False where matplotlib or the measurements are missing."""
    points = [r["result"] for r in records if r["measure"] == "network_growth" and "result" in r]
    if not points:
        return False
    try:
        figure, axes = new_figure(8, 3.2, 2)
    except ConfigError:
        return False
    size = [point["n_nodes"] + point["n_edges"] for point in points]
    seconds = [point["seconds"] for point in points]
    memory = [point["peak_learn_mb"] / 1e3 for point in points]
    for axis, values, label in zip(axes, (seconds, memory), ("seconds a pass", "peak GB"), strict=True):
        axis.loglog(size, values, "o-")
        axis.set(xlabel="nodes + edges", ylabel=label)
        axis.grid(visible=True, alpha=0.3)
    save_figure(figure, path)
    return True
