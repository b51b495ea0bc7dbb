"""Figures of others, read from `paper.json`: the paper's, and the best baselines in print."""

from __future__ import annotations

from pathlib import Path

from mohone.core.config import Plain
from mohone.core.files import read_json

_DATA: Plain = read_json(Path(__file__).parent / "paper.json")
PAPER: Plain = {name: each for name, each in _DATA.items() if name not in ("source", "dim", "published")}
PUBLISHED: Plain = _DATA["published"]
SOURCE: str = _DATA["source"]
DIM: int = _DATA["dim"]  # Of the paper's vectors.


def published_by(dataset: str, model: str) -> tuple[int | None, str | None]:
    """The dimension of a model's best figures in print, and who printed them; None: that is not on record.

    DURA's dimensions are those of the commands in its repository (MIRALab-USTC/KGE-DURA).

    >>> published_by("wn18rr", "rescal")
    (256, 'DURA (Zhang, Cai, Wang; NeurIPS 2020)')
    """
    found = PUBLISHED["by"].get(dataset, {}).get(model, {})
    return found.get("dim"), found.get("source")
