"""Figures as text."""

from __future__ import annotations

MISSING = "-"


def number(value: float | None, unit: str = "") -> str:
    """Three significant digits, whole numbers in full; `MISSING` for None."""
    if value is None:
        return MISSING
    if value == 0:
        return "0" + unit
    size = abs(value)
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    return (f"{value:,.{digits}f}" if size >= 0.0995 else f"{value:.3g}") + unit


def times(value: float | None) -> str:
    """A ratio."""
    return number(value, "x")
