"""One file of triples as train, valid and test, with nothing in valid and test that train has not seen."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mohone.core.errors import ConfigError, DataError
from mohone.data.knowledge_graph import SPLITS, Vocabulary
from mohone.data.reading import NamedTriple


def split_triples(triples: Collection[NamedTriple], share: float, seed: int) -> dict[str, list[NamedTriple]]:
    """Draw `share` of the unique triples for each of valid and test; each split is sorted.

    In a random order of the triples the first one of each entity and of each relation stays in train; valid
    and test are drawn evenly from the rest. Neither the order of the triples nor repetition changes anything.

    Args:
        triples: of names.
        share: of each of valid and test, between 0 and 0.5.
        seed: of the draw.

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
    unique = sorted(set(triples))
    order = np.random.default_rng(seed).permutation(len(unique))
    free = order[~_first_of_a_name(unique, order)]
    n = max(1, round(share * len(unique)))
    if len(free) < 2 * n:
        raise DataError(
            f"Valid and test must take {2 * n:,} of {len(unique):,} triples, but only {len(free):,} can "
            "leave train without taking an entity or a relation with them."
        )
    places = {
        "train": np.setdiff1d(np.arange(len(unique)), free[: 2 * n]),
        "valid": np.sort(free[:n]),
        "test": np.sort(free[n : 2 * n]),
    }
    return {split: [unique[place] for place in places[split]] for split in SPLITS}


def _first_of_a_name(triples: list[NamedTriple], order: np.ndarray) -> np.ndarray:
    """`(n,)` of bool, by place in `order`: has this triple an entity or relation that none before it has?"""
    first = np.zeros(len(order), bool)
    for columns in ((0, 2), (1,)):
        ids = Vocabulary(triple[column] for triple in triples for column in columns).ids
        names = np.array([[ids[triple[column]] for column in columns] for triple in triples], np.int64)
        _, place = np.unique(names.reshape(-1, len(columns))[order], return_index=True)
        first[place // len(columns)] = True
    return first
