"""Who is linked to whom in train, and of which data sets the setting `unlinked` says something."""

from __future__ import annotations

import torch

from mohone.data import GroupIndex, KnowledgeGraph
from mohone.evaluation.settings import ALL_SETTINGS, SETTINGS


def linked_entities(kg: KnowledgeGraph) -> GroupIndex:
    """The entities that a training triple links to each entity, by whatever relation, in either way."""
    head, _, tail = kg.train.T
    return GroupIndex.from_pairs(torch.cat([head, tail]), torch.cat([tail, head]), max(1, kg.n_entities))


def reported_settings(kg: KnowledgeGraph) -> tuple[str, ...]:
    """The settings of a data set: `unlinked` among them where no validation pair is linked in train."""
    rows, linked = linked_entities(kg).lookup(kg.valid[:, 0])
    some = bool((linked == kg.valid[rows, 2]).any())
    return SETTINGS if some else ALL_SETTINGS
