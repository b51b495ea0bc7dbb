"""The paper's figure 1: where an entity and its network neighbours lie before and after the infusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mohone.core.errors import DataError
from mohone.reporting.plotting import new_figure


def map_figure(
    before: Tensor,
    after: Tensor,
    entity: int,
    neighbors: Tensor,
    labels: Sequence[str],
    n_others: int = 25,
) -> Any:
    """Two panels of the same plane: the first two principal axes of all vectors that are shown.

    Shown are the entity, its network neighbours, and the entities next to it before the infusion.

    Args:
        before, after: `(n_entities, width)`, vectors of the same space.
        entity: whose neighbourhood is drawn.
        neighbors: `(k,)` its network neighbours; -1: none.
        labels: of all entities.
        n_others: how many of the nearest by `before`, besides.
    """
    neighbors = neighbors[neighbors >= 0]
    if len(neighbors) == 0:
        raise DataError(f"An entity must have network neighbours for a map, but {labels[entity]} has none.")
    distance = (before - before[entity]).norm(dim=1)
    nearest = [i for i in distance.argsort().tolist() if i != entity and i not in neighbors.tolist()]
    shown = [entity, *neighbors.tolist(), *nearest[:n_others]]
    places = principal_axes(torch.cat([before[shown], after[shown]]))
    figure, axes = new_figure(13, 6, 2, same_x=True, same_y=True)
    n_linked = 1 + len(neighbors)
    for axis, part, name in zip(axes, places.split(len(shown)), ("before", "after"), strict=True):
        axis.scatter(*part[n_linked:].T, color="lightgray", s=12)
        axis.scatter(*part[1:n_linked].T, color="#c9772b", s=25, label="its network neighbours")
        axis.scatter(*part[:1].T, color="#2a6fbb", s=60, marker="*", label=labels[entity])
        for i, (x, y) in enumerate(part.tolist()):
            color = "black" if i < n_linked else "gray"
            axis.annotate(labels[shown[i]], (x, y), fontsize=6, color=color, alpha=0.9)
        axis.set(title=f"{name} the infusion", xticks=[], yticks=[])
    axes[0].legend(fontsize=8)
    return figure


def principal_axes(vectors: Tensor, n: int = 2) -> Tensor:
    """Coordinates on the first principal axes: `(len(vectors), n)`; as many axes as there are, then zeros."""
    centred = (vectors - vectors.mean(0)).double()
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    places = centred @ axes[:n].T
    return torch.nn.functional.pad(places, (0, n - places.shape[1]))
