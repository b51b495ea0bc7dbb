"""Triples of a file in the ids of a data set that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from mohone.core.errors import DataError
from mohone.data.headers import without_known_header
from mohone.data.knowledge_graph import KnowledgeGraph
from mohone.data.reading import FIELDS, NamedTriple, read_triples


def read_known(path: Path, kg: KnowledgeGraph, delimiter: str = "\t") -> Tensor:
    """The triples of a file, in its order: `(n, 3)` ids; a first line that names columns is none.

    Raises:
        DataError: as `read_triples`, or a name that the data set has not.
    """
    file = without_known_header(path, read_triples(path, delimiter), kg)
    return encode_known(str(path), file.triples, kg)


def encode_known(source: str, triples: Sequence[NamedTriple], kg: KnowledgeGraph) -> Tensor:
    """`(n, 3)` ids of named triples.

    Args:
        source: where they are from, for the message.
        triples: by name.
        kg: has the names.

    Raises:
        DataError: a name that the data set has not.
    """
    vocabularies = kg.entities, kg.relations, kg.entities
    for triple in triples:
        for part, name, vocabulary in zip(FIELDS, triple, vocabularies, strict=True):
            if name not in vocabulary.ids:
                like = vocabulary.names_like(name)
                raise DataError(
                    f"{source}: the {part} must be a name of the data set, but {name!r} is none{like}, in "
                    f"{triple}."
                )
    ids = [
        (kg.entities.ids[head], kg.relations.ids[relation], kg.entities.ids[tail])
        for head, relation, tail in triples
    ]
    return torch.tensor(ids, dtype=torch.int64).view(-1, 3)
