"""Words for numbers of things."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things: of one, in the singular.

    Example:
        >>> counted(1, "edge"), counted(0, "edge"), counted(1200, "entity", "entities")
        ('1 edge', '0 edges', '1,200 entities')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
