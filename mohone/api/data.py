"""Triples in: by name, from a folder, from memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch import Tensor

from mohone.configuration.compose import absolute_paths, compose_plain
from mohone.configuration.overrides import override
from mohone.configuration.recipes import CONF
from mohone.core.config import Plain, build, nearest
from mohone.core.errors import ConfigError, DataError, MohoneError
from mohone.core.files import making
from mohone.data import KnowledgeGraph, from_triples
from mohone.data.knowledge_graph import SPLITS
from mohone.data.memory import OWN_DATA
from mohone.data.triples import write_lines

_OF_MEMORY = ("weights", "share", "seed")  # Settings of triples from memory alone...
_OF_ALL = ("name", "header")  # ... and those of files, too.


def load(source: Any, *, valid: Any = None, test: Any = None, **settings: Any) -> KnowledgeGraph:
    """Read a data set; what looks wrong in it is logged.

    Args:
        source: a name (`"umls"`, `"kinships"`, `"fb15k237"`, `"wn18rr"`); a folder that holds `train`,
            `valid` and `test`; or triples of names: a list of them, an array `(n, 3)`, a data frame.
        valid, test: of triples from memory, in the same form; if neither is given, a tenth each is drawn.
        **settings: keys of the `dataset` group (`delimiter=","`) and `data_dir`; of triples from memory those
            of `mohone.data.from_triples` (`name=`, `seed=`).

    Raises:
        DataError: it cannot be read, with file and line; splits beside a source that has its own.
    """
    if isinstance(source, str | Path) and (valid is not None or test is not None):
        raise DataError(
            f"`valid` and `test` must be left out with {str(source)!r}, which has its own, but are given."
        )
    if not isinstance(source, str | Path):
        known = (*_OF_ALL, *_OF_MEMORY)
        if unknown := next((key for key in settings if key not in known), None):
            names = nearest(unknown, known)
            raise ConfigError(
                f"`{unknown}` must be one of {names} for triples from memory, but is none of them."
            )
        return from_triples(source, valid, test, **settings)
    named = [path.stem for path in (CONF / "dataset").glob("*.yaml") if path.stem != "folder"]
    if source not in named and not Path(source).expanduser().is_dir():
        what = (
            "a file, which `python -m mohone.split` makes a folder of" if Path(source).is_file() else "none"
        )
        raise DataError(
            f"{str(source)!r} must be a folder or one of {nearest(str(source), named)}, but is {what}."
        )
    origin = (
        [f"dataset={source}"] if source in named else ["dataset=folder", override("dataset.path", source)]
    )
    for key, value in settings.items():
        if key in _OF_MEMORY and not (key == "weights" and isinstance(value, bool)):
            raise ConfigError(
                f"`{key}` must be left out with {str(source)!r}, for it is of triples from memory."
            )
    origin += [
        override(key if key == "data_dir" else f"dataset.{key}", each) for key, each in settings.items()
    ]
    node = absolute_paths(compose_plain(origin), Path.cwd())["dataset"]
    kg: KnowledgeGraph = build("dataset", node).load()
    kg.report.log_warnings()
    if source not in named:
        origin[1] = override("dataset.path", node["path"])
    return dataclasses.replace(kg, origin=tuple(origin))


def node_of(kg: KnowledgeGraph, folder: Path, node: Plain) -> Plain:
    """The node of the configuration that a data set is read again by; from memory, in the folder of a job."""
    if kg.origin:
        return node
    form = {"delimiter": "\t", "header": False, "weights": kg.weights is not None}
    return {**node, **form, "name": kg.name, "path": str(folder / OWN_DATA)}


def keep(kg: KnowledgeGraph, node: Plain) -> None:
    """Write a data set from memory to where it is read again; one that lies there already stays.

    Raises:
        DataError: something else lies there.
    """
    if kg.origin:
        return
    place = Path(node["path"])
    try:
        with making(place) as part:
            for split in SPLITS:
                write_lines(part / f"{split}.txt", _rows(kg, split))
    except OSError:
        if not place.is_dir():
            raise
        if not _has(node, kg):
            raise DataError(
                f"{place} must be a new or an empty folder, for the triples are kept there, but has others."
            ) from None


def _has(node: Plain, kg: KnowledgeGraph) -> bool:
    """Is it this data set that is read there?"""
    try:
        return bool(build("dataset", node).load().fingerprint == kg.fingerprint)
    except MohoneError:
        return False


def _rows(kg: KnowledgeGraph, split: str) -> Iterator[list[str]]:
    """The lines of a split: names, and weights where there are some; only those of train count."""
    triples: Tensor = getattr(kg, split)
    weights = [1.0] * len(triples) if kg.weights is None or split != "train" else kg.weights.tolist()
    for (head, relation, tail), weight in zip(triples.tolist(), weights, strict=True):
        row = [kg.entities.names[head], kg.relations.names[relation], kg.entities.names[tail]]
        yield row if kg.weights is None else [*row, repr(weight)]
