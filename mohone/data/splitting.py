"""One file of triples as train, valid and test, with nothing in valid and test that train has not seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from mohone.core.errors import ConfigError, DataError, require_int
from mohone.data.links import linked_otherwise, unordered_pairs
from mohone.data.reading import NamedTriple
from mohone.data.vocabulary import SPLITS, Vocabulary


def split_triples(
    triples: Collection[NamedTriple], share: float, seed: int, leak: bool = True
) -> dict[str, list[NamedTriple]]:
    """Draw `share` of the unique triples for each of valid and test; each split is sorted.

    In a random order of the triples the first one of each entity and of each relation stays in train; valid
    and test are drawn evenly from the rest. Neither the order of the triples nor repetition changes anything.

    Args:
        triples: of names.
        share: of each of valid and test, between 0 and 0.5.
        seed: of the draw.
        leak: False: all triples of two entities, by whatever relation and in either way, come into one
            split. Valid and test are then drawn by pairs of entities until they have their share, so each
            may have more than that by less than the triples of a pair.

    Raises:
        ConfigError: a share that is out of range.
        DataError: too few triples can leave train.

    Example:
        >>> splits = split_triples([(a, "likes", b) for a in "abc" for b in "abc"], share=0.2, seed=0)
        >>> {name: len(triples) for name, triples in splits.items()}
        {'train': 5, 'valid': 2, 'test': 2}
    """
    if not 0 < share < 0.5:
        raise ConfigError(f"The share of valid and of test must lie between 0 and 0.5, but is {share}.")
    require_int("seed", seed, 0)
    unique = sorted(set(triples))
    if not unique:
        raise DataError("There must be triples to split, but there are none.")
    ids, n_entities, _ = _encode(unique)
    order = np.random.default_rng(seed).permutation(len(unique))
    group = (np.arange(len(unique)) if leak else unordered_pairs(ids, n_entities))[order]
    free = ~np.isin(group, group[_first_of_a_name(ids[order])])
    before = _drawn_before(group[free])
    n = max(1, round(share * len(unique)))
    valid = before < n
    test = ~valid & (before < valid.sum() + n)
    if test.sum() < n:
        raise DataError(
            f"Valid and test must take {n + max(n, valid.sum()):,} of {len(unique):,} triples, but only "
            f"{free.sum():,} can leave train without taking an entity or a relation with them"
            f"{'.' if leak else ', if all triples of two entities stay together.'}"
        )
    places = {"valid": order[free][valid], "test": order[free][test]}
    places["train"] = np.setdiff1d(np.arange(len(unique)), np.concatenate(list(places.values())))
    return {split: [unique[place] for place in np.sort(places[split])] for split in SPLITS}


def weights_of(triples: Iterable[NamedTriple], weights: Iterable[float]) -> dict[NamedTriple, float]:
    """The weight of each triple; of a repeated one the greatest.

    Example:
        >>> weights_of([("a", "r", "b"), ("a", "r", "b")], [1.0, 2.0])
        {('a', 'r', 'b'): 2.0}
    """
    out: dict[NamedTriple, float] = {}
    for triple, weight in zip(triples, weights, strict=True):
        out[triple] = max(weight, out.get(triple, 0.0))
    return out


def count_linked(splits: Mapping[str, Sequence[NamedTriple]]) -> dict[str, int]:
    """How many triples of valid and of test have ends that train links by another relation or reversed.

    Example:
        >>> train = [("a", "parent_of", "b"), ("a", "parent_of", "c")]
        >>> valid, test = [("b", "child_of", "a")], [("b", "parent_of", "c")]
        >>> count_linked({"train": train, "valid": valid, "test": test})
        {'valid': 1, 'test': 0}
    """
    ids, *sizes = _encode([triple for split in SPLITS for triple in splits[split]])
    train, *others = np.split(ids, np.cumsum([len(splits[split]) for split in SPLITS[:-1]]))
    counts = (int(linked_otherwise(train, other, *sizes).sum()) for other in others)
    return dict(zip(SPLITS[1:], counts, strict=True))


def _encode(triples: Sequence[NamedTriple]) -> tuple[np.ndarray, int, int]:
    """`(n, 3)` of ids, and how many entities and relations there are."""
    entities = Vocabulary(name for head, _, tail in triples for name in (head, tail))
    relations = Vocabulary(relation for _, relation, _ in triples)
    ids = [(entities.ids[head], relations.ids[name], entities.ids[tail]) for head, name, tail in triples]
    return np.array(ids, np.int64).reshape(-1, 3), len(entities), len(relations)


def _first_of_a_name(ids: np.ndarray) -> np.ndarray:
    """`(n,)` of bool: has this triple an entity or a relation that none before it has?"""
    first = np.zeros(len(ids), bool)
    for columns in ([0, 2], [1]):
        _, place = np.unique(ids[:, columns], return_index=True)
        first[place // len(columns)] = True
    return first


def _drawn_before(group: np.ndarray) -> np.ndarray:
    """`(n,)`: how many items are in groups that come up before the item's own.

    Example:
        >>> _drawn_before(np.array([7, 3, 7, 5])).tolist()
        [0, 2, 0, 3]
    """
    _, first, item, size = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
    turn = first.argsort()
    before = np.empty_like(size)
    before[turn] = size[turn].cumsum() - size[turn]
    return before[item]
