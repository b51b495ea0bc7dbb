"""Matplotlib, where it is installed, drawing into files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mohone.core.errors import not_installed
from mohone.core.files import replacing


def new_figure(
    width: float, height: float, n_panels: int = 1, same_x: bool = False, same_y: bool = False
) -> tuple[Any, Any]:
    """A figure of so many inches, and its axes: one, or an array of panels side by side.

    It is Matplotlib's own, not pyplot's, which keeps each until it is told to forget it.

    Args:
        width, height: in inches.
        n_panels: in a row.
        same_x, same_y: do the panels share an axis?

    Raises:
        ConfigError: Matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise not_installed("matplotlib", "plots", "to draw") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, n_panels, sharex=same_x, sharey=same_y)


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format that the file's ending says."""
    with replacing(path) as part:
        figure.savefig(part, format=path.suffix[1:], dpi=120)
