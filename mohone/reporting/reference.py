"""Figures of others, read from `paper.json`: the paper's, and the best baselines in print."""

from __future__ import annotations

from pathlib import Path

from mohone.core.config import Plain
from mohone.core.files import read_json

_DATA: Plain = read_json(Path(__file__).parent / "paper.json")
PAPER: Plain = {name: each for name, each in _DATA.items() if name not in ("source", "published")}
PUBLISHED: Plain = _DATA["published"]
