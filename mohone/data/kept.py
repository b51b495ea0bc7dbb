"""A data set that was read, kept in arrays that are mapped into memory: the next job starts in seconds.

It lies in a folder under a key of the contents of its files, of how they are read, and of this format: what
was kept of other contents cannot be found, whatever a file's times say after a copy, a restore or a clock
that was set. (The digest of a gigabyte takes a second or two, which is what reading saves many times over.)
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mohone.core.files import has_its_sums, keep_sums, making
from mohone.data.knowledge_graph import SPLITS, KnowledgeGraph
from mohone.data.load_report import LoadReport
from mohone.data.vocabulary import Vocabulary

log = logging.getLogger(__name__)
FORMAT = 3  # Raise it when the same files would give another graph than before, or other arrays.
THRESHOLD = 1 << 24  # Bytes of files below which reading takes no longer than a second or two.
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError)  # What reading a damaged one raises.

_VOCABULARIES = ("entities", "relations")


def kept(
    root: Path, paths: Mapping[str, Path], settings: Mapping[str, Any], read: Callable[[], KnowledgeGraph]
) -> KnowledgeGraph:
    """The data set of these files: what was kept of them, or `read()`, which is then kept.

    Args:
        root: folder of what is kept; where it cannot be written, nothing is.
        settings: all that reading depends on beside the files, as JSON.
    """
    if sum(path.stat().st_size for path in paths.values()) < THRESHOLD:
        return read()
    folder = root / key_of(paths, settings)
    if folder.is_dir():
        try:
            return open_kept(folder)
        except DAMAGED as error:
            log.warning("%s is damaged (%s): the files are read again", folder, error)
            shutil.rmtree(folder, ignore_errors=True)
    kg = read()
    if key_of(paths, settings) == folder.name:  # Else a file changed while it was read.
        try:
            with making(folder) as part:
                keep(part, kg)
        except OSError as error:  # A store that only reads or is full, or another job was first.
            log.info("%s is not kept: %s", kg.name, error.strerror or error)
    return kg


def key_of(paths: Mapping[str, Path], settings: Mapping[str, Any]) -> str:
    """A digest of the files' contents and of how they are read."""
    digests = {}
    for split, path in paths.items():
        with path.open("rb") as file:
            digests[split] = [path.suffix, hashlib.file_digest(file, "sha256").hexdigest()]
    text = json.dumps([FORMAT, dict(settings), digests], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def keep(folder: Path, kg: KnowledgeGraph) -> None:
    """Write a data set's arrays and the rest of it."""
    for split in SPLITS:
        np.save(folder / f"{split}.npy", getattr(kg, split).numpy())
    if kg.weights is not None:
        np.save(folder / "weights.npy", kg.weights.numpy())
    for group in _VOCABULARIES:
        np.save(folder / f"{group}.npy", np.frombuffer(getattr(kg, group).lines, np.uint8))
    rest = {
        "name": kg.name,
        "fingerprint": kg.fingerprint,
        "fingerprints": dict(kg.fingerprints),
        "sizes": [kg.n_entities, kg.n_relations],
        "report": kg.report.to_dict(),
    }
    (folder / "rest.json").write_text(json.dumps(rest), encoding="utf-8")
    keep_sums(folder)  # A number that was changed would be another triple.


def open_kept(folder: Path) -> KnowledgeGraph:
    """Read what `keep` wrote; the triples only when somebody looks at them.

    Raises:
        `DAMAGED`: it is damaged, or of another version.
    """
    if not has_its_sums(folder):
        raise ValueError("a file has another checksum")
    rest = json.loads((folder / "rest.json").read_text(encoding="utf-8"))
    entities, relations = (
        Vocabulary.of_lines(_mapped(folder / f"{group}.npy").tobytes()) for group in _VOCABULARIES
    )
    if [len(entities), len(relations)] != rest["sizes"]:
        raise ValueError("names are missing")
    weights = folder / "weights.npy"
    train, valid, test = (_tensor(folder / f"{split}.npy") for split in SPLITS)
    return KnowledgeGraph(
        name=rest["name"],
        entities=entities,
        relations=relations,
        train=train,
        valid=valid,
        test=test,
        fingerprint=rest["fingerprint"],
        fingerprints=rest["fingerprints"],
        report=_revived(LoadReport, rest["report"]),
        weights=_tensor(weights) if weights.exists() else None,
    )


def named(kg: KnowledgeGraph, name: str) -> KnowledgeGraph:
    """The same data set by another name."""
    return kg if kg.name == name else replace(kg, name=name, report=replace(kg.report, name=name))


def _mapped(path: Path) -> NDArray[Any]:
    """An array on the disk; what is written to it stays in memory."""
    array: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
    return array


def _tensor(path: Path) -> Tensor:
    return torch.from_numpy(_mapped(path))


def _revived(kind: Any, value: Any) -> Any:
    """Plain types as the dataclasses that they were made of."""
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        values = {each.name: _revived(hints[each.name], value[each.name]) for each in fields(kind)}
        return typing.cast(Any, kind)(**values)
    parts = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin is dict:
        return {key: _revived(parts[1], each) for key, each in value.items()}
    if origin in (list, tuple):
        inner = parts[0] if len(set(parts) - {...}) == 1 else Any
        return origin(_revived(inner, each) for each in value)
    return value
