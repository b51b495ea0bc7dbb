"""What is planted in a graph: types, communities, popularity, and where relations lead (see `planted`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

N_TYPES = 50  # Or as many as there are relations that derive from no others.
SIZES = (50, 2000)  # Entities of a community, at least and at most.
_KINDS = np.array([0.4, 0.25, 0.15, 0.1, 0.1])  # Shares of the types of a community.


class Pools:
    """Members of groups, to be drawn by weight."""

    def __init__(self, group: Array, weight: Array, n_groups: int) -> None:
        self.order = np.argsort(group, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n_groups))])
        self.running = np.concatenate([[0.0], np.cumsum(weight[self.order])])

    def holds(self, groups: Array) -> Array:
        """Has a group any member?"""
        return np.asarray(self.starts[groups] < self.starts[groups + 1])

    def draw(self, groups: Array, rng: np.random.Generator) -> Array:
        """A member of each of these groups, none of which is empty."""
        low, high = self.running[self.starts[groups]], self.running[self.starts[groups + 1]]
        at = np.searchsorted(self.running, low + rng.random(len(groups)) * (high - low), side="right") - 1
        return self.order[np.clip(at, self.starts[groups], self.starts[groups + 1] - 1)]


class Plan(NamedTuple):
    """What is planted.

    Attributes:
        types, communities, popularity: of the entities.
        domain, range: types of the heads and tails of each relation.
        everywhere: of bool: does a relation ignore communities?
        inverse_of: of each relation, the one that it inverts; -1: none.
        first, second: the two that a relation is composed of; -1: none.
        holders, holder_starts: communities by the type that they hold.
    """

    types: Array
    communities: Array
    popularity: Array
    domain: Array
    range: Array
    everywhere: Array
    inverse_of: Array
    first: Array
    second: Array
    holders: Array
    holder_starts: Array

    @property
    def n_types(self) -> int:
        """Types that some entity has."""
        return len(self.holder_starts) - 1

    def cell(self, community: Array, kind: Array) -> Array:
        """The number of those of a community that have a type."""
        return community * self.n_types + kind

    def pools(self) -> Pools:
        """Those of each community and type, by popularity."""
        n_cells = self.n_types * (int(self.communities.max()) + 1)
        return Pools(self.cell(self.communities, self.types), self.popularity, n_cells)

    def leads_to(self, relation: Array, community: Array, cells: Pools) -> Array:
        """The community that a relation leads to from another."""
        kind = self.range[relation]
        low, high = self.holder_starts[kind], self.holder_starts[kind + 1]
        mixed = (relation * 7_919 + community * 104_729) % np.maximum(1, high - low)
        return np.where(cells.holds(self.cell(community, kind)), community, self.holders[low + mixed])


def make_plan(n_entities: int, n_relations: int, rng: np.random.Generator) -> Plan:
    """Draw types, communities, popularity and what relations lead from and to."""
    least, most = SIZES
    sizes = (1 / (1 / least - rng.random(n_entities // least + 1) * (1 / least - 1 / most))).astype(int)
    n_communities = 1 + int(np.searchsorted(np.cumsum(sizes), n_entities))
    communities = rng.permutation(np.repeat(np.arange(n_communities), sizes[:n_communities])[:n_entities])
    kinds = rng.integers(
        min(N_TYPES, n_relations - 2 * _n_each(n_relations)), size=(n_communities, len(_KINDS))
    )
    choice = rng.choice(len(_KINDS), n_entities, p=_KINDS)
    _, types = np.unique(kinds[communities, choice], return_inverse=True)
    n_types = int(types.max()) + 1
    held = np.unique(types * n_communities + communities)
    domain, range_, inverse_of, first, second = _relations(n_relations, n_types, rng)
    return Plan(
        types=types,
        communities=communities,
        popularity=(1 - rng.random(n_entities)) ** -0.75,
        domain=domain,
        range=range_,
        everywhere=(rng.random(n_relations) < 0.1) & (inverse_of < 0) & (first < 0),
        inverse_of=inverse_of,
        first=first,
        second=second,
        holders=held % n_communities,
        holder_starts=np.searchsorted(held // n_communities, np.arange(n_types + 1)),
    )


def _relations(n: int, n_types: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """Domains, ranges, and what the last fifth derive from; each type is the domain of one that does not."""
    n_each = _n_each(n)
    n_base = n - 2 * n_each
    domain, range_ = np.arange(n) % n_types, rng.integers(n_types, size=n)
    inverse_of, first, second = np.full((3, n), -1)
    for r in range(n_base, n_base + n_each):
        inverse_of[r] = rng.integers(n_base)
        domain[r], range_[r] = range_[inverse_of[r]], domain[inverse_of[r]]
    for r in range(n_base + n_each, n):
        first[r] = rng.integers(n_base)
        second[r] = rng.choice(np.flatnonzero(domain[:n_base] == range_[first[r]]))
        domain[r], range_[r] = domain[first[r]], range_[second[r]]
    return domain, range_, inverse_of, first, second


def _n_each(n_relations: int) -> int:
    """Relations that are inverses, and as many that are compositions."""
    return n_relations // 10
