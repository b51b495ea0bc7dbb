"""`python -m benchmarks.parts FOLDER OUT --share 0.25`: a part of a data set, in a folder of its own.

A share of the entities is drawn; of each split those triples stay whose head and tail are both drawn. A
triple of valid or test with an entity or relation that the part's train lacks is left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from mohone.core.files import write_text
from mohone.data.reading import NamedTriple, read_triples

SPLITS = ("train", "valid", "test")


def part_of(
    splits: dict[str, list[NamedTriple]], share: float, by_degree: bool, seed: int
) -> dict[str, list[NamedTriple]]:
    """The triples of each split among a drawn share of train's entities.

    Args:
        splits: the triples of train, valid and test.
        share: of the entities, between 0 and 1.
        by_degree: are entities of many triples drawn more often, so that the part is denser?
        seed: of the draw.

    Example:
        >>> ring = [(str(i), "next", str((i + 1) % 9)) for i in range(9)]
        >>> part = part_of({"train": ring, "valid": ring[:2], "test": []}, share=1.0, by_degree=False, seed=0)
        >>> [len(triples) for triples in part.values()]
        [9, 2, 0]
    """
    train = sorted(set(splits["train"]))
    names, degrees = np.unique([name for head, _, tail in train for name in (head, tail)], return_counts=True)
    chances = degrees / degrees.sum() if by_degree else None
    n = round(share * len(names))
    kept = set(np.random.default_rng(seed).choice(names, n, replace=False, p=chances).tolist())
    part = {name: [x for x in each if x[0] in kept and x[2] in kept] for name, each in splits.items()}
    entities = {name for head, _, tail in part["train"] for name in (head, tail)}
    relations = {relation for _, relation, _ in part["train"]}
    for split in ("valid", "test"):
        part[split] = [x for x in part[split] if {x[0], x[2]} <= entities and x[1] in relations]
    return part


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parts", description=__doc__)
    parser.add_argument("folder", type=Path, help="with train.txt, valid.txt and test.txt")
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, default=0.25, help="of the entities")
    parser.add_argument("--by-degree", action="store_true", help="draw entities of many triples more often")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    splits = {split: read_triples(given.folder / f"{split}.txt").triples for split in SPLITS}
    for split, triples in part_of(splits, given.share, given.by_degree, given.seed).items():
        write_text(given.out / f"{split}.txt", "".join("\t".join(triple) + "\n" for triple in triples))


if __name__ == "__main__":
    main()
