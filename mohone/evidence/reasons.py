"""What spoke for an answer, in ids: sentences are made of it where names are known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One thing that speaks for a candidate."""


@dataclass(frozen=True)
class Vote(Reason):
    """A neighbour of the known entity in network space has this answer."""

    neighbor: int
    weight: float


@dataclass(frozen=True)
class SimilarAnswer(Reason):
    """A known answer of the query has the candidate as its neighbour in network space."""

    answer: int
    weight: float


@dataclass(frozen=True)
class Heat(Reason):
    """The heat from the known entity to the candidate, in multiples of what its degree lets expect."""

    scale: float
    times: float


@dataclass(frozen=True)
class Path(Reason):
    """A typed walk from the known entity to the candidate; pairs that it joins often have the relation.

    `entities` are one more than `relations`, both ends among them; relations are directed.
    """

    relations: tuple[int, ...]
    entities: tuple[int, ...]
    confidence: float


@dataclass(frozen=True)
class Context(Reason):
    """The known entity has an edge with `relation` (directed) to `entity`; others that do have the answer."""

    relation: int
    entity: int
    confidence: float


@dataclass(frozen=True)
class Popular(Reason):
    """The candidate answers this relation for so many others."""

    times: int


@dataclass(frozen=True)
class Linked(Reason):
    """Another training triple joins the two, by this directed relation."""

    relation: int
