"""Which queries are scored at once, and how many."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from mohone.data import SIDES, query_order

# Elements of a score matrix: memory stays constant, and 8 MB stay in a processor's cache.
_CHUNK_ELEMENTS = {"cpu": 1 << 21, "cuda": 1 << 26}
_MAX_CHUNK = {"cpu": 1024, "cuda": 1 << 14}
# With fewer queries at once, reading all entities' vectors takes longer than their products: beyond 65,536
# entities on a CPU, beyond two million on a GPU.
_LEAST_CHUNK = 32


class Chunk(NamedTuple):
    """Queries scored at once, sorted by relation and known entity, and where in them each relation is.

    `places` says where among all that are ranked, tails first, each of them belongs.
    """

    side: str
    triples: Tensor
    places: Tensor
    relations: list[tuple[int, slice]]


class BlockSize(NamedTuple):
    """How many queries meet how many entities at once."""

    queries: int
    entities: int

    def at_most(self, queries: int) -> BlockSize:
        """With fewer queries, if these are fewer."""
        return BlockSize(min(self.queries, queries), self.entities)


def queries_at_once(n_entities: int, device: torch.device) -> int:
    """So many queries have scores of all entities that stay in a processor's cache."""
    return min(_MAX_CHUNK.get(device.type, 1024), max(1, block_elements(device) // n_entities))


def block_size(
    n_entities: int, device: torch.device, width: int | None = None, always: bool = False
) -> BlockSize | None:
    """Of graphs that are ranked a block of entities at a time; None: all entities are scored at once.

    Args:
        n_entities: of the graph.
        device: where it is ranked.
        width: entities of a block; None: as many as a processor's cache takes.
        always: however small the graph is?
    """
    if width is None and not always and queries_at_once(n_entities, device) >= _LEAST_CHUNK:
        return None
    queries = _MAX_CHUNK.get(device.type, 1024)
    return BlockSize(queries, width or block_elements(device) // queries)


def chunks_of(triples: Tensor, queries: Tensor, size: int, device: torch.device) -> list[Chunk]:
    """The chunks of both sides: equal queries are neighbours, so that a model can answer them once.

    Args:
        triples: `(n, 3)`.
        queries: which of their `2 n` queries, tails first, ascending.
        size: of a chunk.
        device: where its triples are to be.
    """
    n, chunks = len(triples), []
    for number, side in enumerate(SIDES):
        places = ((queries >= number * n) & (queries < (number + 1) * n)).nonzero().flatten()
        asked = triples[queries[places] - number * n]
        order = query_order(asked, side)
        parts = zip(asked[order].split(size), places[order].split(size), strict=True)
        chunks += [
            Chunk(side, part.to(device), where, _relations(part)) for part, where in parts if len(part)
        ]
    return chunks


def block_elements(device: torch.device) -> int:
    """Scores that are held at once on a device, where entities are not more."""
    return _CHUNK_ELEMENTS.get(device.type, 1 << 21)


def _relations(triples: Tensor) -> list[tuple[int, slice]]:
    relations, counts = torch.unique_consecutive(triples[:, 1], return_counts=True)
    ends = counts.cumsum(0).tolist()
    starts = [0, *ends[:-1]]
    return [
        (relation, slice(start, end))
        for relation, start, end in zip(relations.tolist(), starts, ends, strict=True)
    ]
