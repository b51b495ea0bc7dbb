"""Models that other tools trained: their files read as tables of ours, and written back; trains none."""

from mohone.elsewhere.base import Source, put, rows_of_entities, taken_back
from mohone.elsewhere.open import open_source

__all__ = ["Source", "open_source", "put", "rows_of_entities", "taken_back"]
