"""Of which data sets the setting `unlinked` says something."""

from __future__ import annotations

from mohone.data import KnowledgeGraph
from mohone.evaluation.settings import ALL_SETTINGS, SETTINGS


def reported_settings(kg: KnowledgeGraph) -> tuple[str, ...]:
    """The settings of a data set: `unlinked` among them where no validation pair is linked in train."""
    rows, linked = kg.linked(kg.valid[:, 0]).lookup(kg.valid[:, 0])
    some = bool((linked == kg.valid[rows, 2]).any())
    return SETTINGS if some else ALL_SETTINGS
