"""Matplotlib, where it is installed, drawing into files alone."""

from __future__ import annotations

from typing import Any

from mohone.errors import ConfigError


def pyplot() -> Any:
    """The module `matplotlib.pyplot`, without a window.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib import pyplot as plt
    except ImportError:
        raise ConfigError("matplotlib must be installed to draw (the extra `plots`), but is not.") from None
    mpl.use("Agg")
    return plt
