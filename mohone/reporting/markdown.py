"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A table with its columns in line; a name with a bar or a line break stays in its cell.

    >>> print(table(("model", "MRR"), [("transe", "0.3"), ("a|b", "")]), end="")
    | model  | MRR |
    | ------ | --- |
    | transe | 0.3 |
    | a\|b   |     |
    """
    lines = [[" ".join(cell.replace("|", r"\|").splitlines()) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    texts = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in lines]
    return "".join(f"| {text} |\n" for text in texts)
