"""A graph with the counts of Wikidata5M and planted structure, written as named triples.

`python -m benchmarks.planted FOLDER --entities 4.6e6 --triples 20.6e6 --relations 822 --seed 0`

Entities have a type, a community and a popularity that follows a power law. A relation leads from one type to
another and from each community to one: its own, if it holds the type, or another. A tail is mostly drawn
from that community among those of the type, by popularity. A tenth of the relations ignore communities, so
that there are hubs; a tenth are inverses and a tenth compositions of others, so that paths find something.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.planted_plan import Array, Plan, Pools, make_plan
from mohone.core.arrays import sorted_distinct

LOCAL = 0.85  # Share of triples whose tail is of the community that the relation leads to.
DERIVED = 0.25  # Share of triples that follow from others.
HELD_OUT = 5000
_BLOCK = 1 << 20  # Triples written at a time.
_ROUNDS = 10  # Of drawing triples that follow from others; then they may be exhausted.


class Planted(NamedTuple):
    """`(n, 3)` int64 triples of each split, and what is planted in them."""

    train: Array
    valid: Array
    test: Array
    plan: Plan


def planted(
    n_entities: int, n_triples: int, n_relations: int, seed: int = 0, held_out: int = HELD_OUT
) -> Planted:
    """Draw a graph: `n_triples` in train and `held_out` each in valid and test, all distinct.

    Every entity and every relation has a triple in train.

    Raises:
        ValueError: where there are too few triples for all entities.
    """
    if n_triples < 2 * n_entities:
        raise ValueError(f"There must be two triples an entity at least, but are {n_triples / n_entities}.")
    rng = np.random.default_rng(seed)
    plan = make_plan(n_entities, n_relations, rng)
    codes = _codes(plan, n_entities, n_triples + 2 * held_out, n_relations, rng)
    triples = _triples(codes[rng.permutation(len(codes))], n_entities, n_relations)
    needed = np.zeros(len(triples), bool)
    for column, n in ((0, n_entities), (1, n_relations), (2, n_entities)):
        last = np.full(n, -1)
        last[triples[:, column]] = np.arange(len(triples))
        needed[last[last >= 0]] = True
    spare = np.flatnonzero(~needed)[: 2 * held_out]
    valid, test = triples[spare[:held_out]], triples[spare[held_out:]]
    needed[:] = True
    needed[spare] = False
    return Planted(triples[needed], valid, test, plan)


class _Draws:
    """Triples as numbers `(head R + relation) n_entities + tail`: they sort by head, then relation."""

    def __init__(self, plan: Plan, n_entities: int, n_relations: int, rng: np.random.Generator) -> None:
        self.plan, self.n, self.n_relations, self.rng = plan, n_entities, n_relations, rng
        self.heads = Pools(plan.types, plan.popularity**0.7, plan.n_types)
        self.tails = Pools(plan.types, plan.popularity**1.3, plan.n_types)  # Hubs.
        self.cells = plan.pools()
        derived = (plan.inverse_of >= 0) | (plan.first >= 0)
        self.base, self.derived = np.flatnonzero(~derived), np.flatnonzero(derived)
        shares = 1.0 / rng.permutation(np.arange(1, len(self.base) + 1))
        self.shares = shares / shares.sum()

    def code(self, head: Array, relation: Array, tail: Array) -> Array:
        """The numbers of triples."""
        return (head * self.n_relations + relation) * self.n + tail

    def covering(self) -> Array:
        """Each entity once as a head, and each relation once, so that none is missing."""
        asked = Pools(self.plan.domain[self.base], self.shares, self.plan.n_types)
        relation = self.base[asked.draw(self.plan.types, self.rng)]
        every = np.arange(self.n_relations)
        heads = np.concatenate([np.arange(self.n), self.heads.draw(self.plan.domain, self.rng)])
        return self.follow(heads, np.concatenate([relation, every]))

    def of_base(self, n: int) -> Array:
        """Triples of relations that derive from no others."""
        relation = self.rng.choice(self.base, n, p=self.shares)
        return self.follow(self.heads.draw(self.plan.domain[relation], self.rng), relation)

    def follow(self, head: Array, relation: Array) -> Array:
        """A tail for each head and relation."""
        plan, rng = self.plan, self.rng
        tail = self.tails.draw(plan.range[relation], rng)
        local = (rng.random(len(head)) < LOCAL) & ~plan.everywhere[relation]
        towards = plan.leads_to(relation, plan.communities[head], self.cells)[local]
        tail[local] = self.cells.draw(plan.cell(towards, plan.range[relation[local]]), rng)
        return self.code(head, relation, tail)

    def of_derived(self, codes: Array, n: int) -> Array:
        """At most so many triples that follow from those given, which are sorted."""
        plan, rng = self.plan, self.rng
        pool = Pools(codes // self.n % self.n_relations, np.ones(len(codes)), self.n_relations)
        source = np.where(plan.first >= 0, plan.first, plan.inverse_of)[self.derived]
        sizes = np.diff(pool.starts)[source].astype(float)
        if not sizes.any():
            return codes[:0]
        relation = rng.choice(self.derived, n, p=sizes / sizes.sum())
        composed = plan.first[relation] >= 0
        step = codes[pool.draw(np.where(composed, plan.first[relation], plan.inverse_of[relation]), rng)]
        head, middle = step // (self.n * self.n_relations), step % self.n
        query = self.code(middle, plan.second[relation], np.zeros(n, np.int64))
        low, high = np.searchsorted(codes, query), np.searchsorted(codes, query + self.n)
        follows = composed & (low < high)
        at = low + (rng.random(n) * (high - low)).astype(int)
        tail = codes[at[follows]] % self.n
        out = [self.code(head[follows], relation[follows], tail)]
        return np.concatenate([*out, self.code(middle[~composed], relation[~composed], head[~composed])])


def _codes(plan: Plan, n_entities: int, n: int, n_relations: int, rng: np.random.Generator) -> Array:
    """So many distinct triples, as ascending numbers (see `_Draws`)."""
    draws = _Draws(plan, n_entities, n_relations, rng)
    codes = covering = sorted_distinct(draws.covering())

    def more(new: Array) -> Array:
        return sorted_distinct(np.concatenate([codes, new]))

    n_base = round(n * (1 - DERIVED))
    while len(codes) < n_base:
        codes = more(draws.of_base(_step(n_base - len(codes))))
    for _ in range(_ROUNDS):
        if len(codes) < n:
            codes = more(draws.of_derived(codes, n - len(codes)))
    while len(codes) < n:
        codes = more(draws.of_base(_step(n - len(codes))))
    spare = np.flatnonzero(~np.isin(codes, covering))
    return np.delete(codes, rng.permutation(spare)[: len(codes) - n])


def _step(n: int) -> int:
    """Draws towards n new triples, some of which are there already."""
    return n + n // 10 + 16


def _triples(codes: Array, n_entities: int, n_relations: int) -> Array:
    query, tail = np.divmod(codes, n_entities)
    head, relation = np.divmod(query, n_relations)
    return np.stack([head, relation, tail], 1)


def write_graph(
    folder: Path, n_entities: int, n_triples: int, n_relations: int, seed: int = 0, held_out: int = HELD_OUT
) -> None:
    """Write `train.txt`, `valid.txt` and `test.txt` of a planted graph."""
    graph = planted(n_entities, n_triples, n_relations, seed, held_out)
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "valid", "test"):
        triples = getattr(graph, split)
        with (folder / f"{split}.txt").open("w") as file:
            for first in range(0, len(triples), _BLOCK):
                rows = triples[first : first + _BLOCK].tolist()
                file.writelines(f"/m/{h:x}\trelation/{r}\t/m/{t:x}\n" for h, r, t in rows)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, usual in (("entities", 4.6e6), ("triples", 20.6e6), ("relations", 822), ("held-out", HELD_OUT)):
        parser.add_argument(f"--{name}", type=float, default=usual)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts = (int(n) for n in (given.entities, given.triples, given.relations))
    write_graph(given.folder, *counts, given.seed, int(given.held_out))


if __name__ == "__main__":
    main()
