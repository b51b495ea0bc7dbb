"""Readable labels beside names: read from a file, shown, and taken for the name where it is asked for."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from mohone.core.errors import DataError
from mohone.core.files import check_file
from mohone.core.words import counted
from mohone.data.vocabulary import Vocabulary

log = logging.getLogger(__name__)


def read_labels(path: Path | None) -> dict[str, str]:
    r"""The label of each name that a file of `NAME<TAB>LABEL` lines has; None: there are no labels.

    Lines end as in files of triples, in ``\n`` or ``\r\n`` alone: a name may hold other ends.

    Raises:
        DataError: a missing file, one that is not UTF-8, or one without such a line.
    """
    if path is None:
        return {}
    check_file("--labels", path)
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"`--labels` must be a file in UTF-8, but {path} is not: {error.reason}.") from None
    filled = [line.removesuffix("\r") for line in lines if line.removesuffix("\r")]
    pairs = [(name, label) for name, tab, label in (line.partition("\t") for line in filled) if tab]
    if filled and not pairs:
        raise DataError(f"{path} must have lines of NAME<TAB>LABEL, but has none: {filled[0]!r}.")
    labels = dict(pairs)
    if len(pairs) < len(filled):
        log.warning("%s: %s without a label", path, counted(len(filled) - len(pairs), "line"))
    if len(labels) < len(set(pairs)):
        log.warning(
            "%s: %s with another label, too: the last one holds",
            path,
            counted(len(set(pairs)) - len(labels), "line"),
        )
    return labels


def find_name(option: str, name: str, vocabulary: Vocabulary, labels: Mapping[str, str]) -> int:
    """The id of a name, or of the one name that has this label.

    Args:
        option: where it was given, for the message.
        name: or label.
        vocabulary: of the data set.
        labels: by name.

    Raises:
        DataError: it is neither, or several have the label.

    Example:
        >>> find_name("--head", "Berlin", Vocabulary(["Q1", "Q64"]), {"Q64": "Berlin"})
        1
    """
    if name in vocabulary.ids:
        return vocabulary.ids[name]
    found = [key for key, label in labels.items() if label == name and key in vocabulary.ids]
    if len(found) > 1:
        raise DataError(
            f"`{option}` must be a name or one's own label, but {name!r} is that of {', '.join(found)}."
        )
    if not found:
        kind = "a name or label" if labels else "a name"
        shown = (labels[key] for key in labels if key in vocabulary.ids)
        like = Vocabulary([*vocabulary.names, *shown]).names_like(name)
        raise DataError(f"`{option}` must be {kind} of the data set, but {name!r} is none{like}.")
    return vocabulary.ids[found[0]]
