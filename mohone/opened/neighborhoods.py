"""An entity's neighbours in each of the spaces that a job has put it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

from mohone.core.nearest import Near, nearest_to
from mohone.experiment.trained import TrainedJob


class Space(NamedTuple):
    """Vectors of all entities, `(n_entities, width)`, and who has no place there: `(n_entities,)` of bool."""

    vectors: Tensor
    without_place: Tensor | None = None


def spaces_of(job: TrainedJob) -> dict[str, Space]:
    """The spaces of a job: `before` and `after` the infusion, and `network`; those that it has.

    The model's space is that of its entity vectors; of an infusion that moves none (`evidence`, `retrain`)
    there is one, `model`. Of one that moves the known side alone, `after` has the vectors that moved.
    """
    before, after = job.baseline.entity_vectors.cpu(), job.model.entity_vectors.cpu()
    moved = job.is_infused and not before.equal(after)
    out = {"before": Space(before), "after": Space(after)} if moved else {"model": Space(before)}
    if job.has_network:
        out["network"] = Space(job.network_vectors.cpu(), job.space.network.isolated)
    return out


def neighborhoods(
    spaces: Mapping[str, Space], entity: int, k: int, metric: str = "cosine"
) -> dict[str, Near]:
    """The k nearest entities of one in each space.

    Args:
        spaces: by name, see `spaces_of`.
        entity: its id.
        k: at most so many; an entity without an edge has none in the network.
        metric: `cosine` or `euclidean`.
    """
    return {
        name: nearest_to(space.vectors, entity, k, metric, space.without_place)
        for name, space in spaces.items()
    }
