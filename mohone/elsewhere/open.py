"""Which form files of another tool have."""

from __future__ import annotations

from pathlib import Path

from mohone.core.errors import DataError
from mohone.core.files import check_there
from mohone.elsewhere.base import Source
from mohone.elsewhere.flat import FlatFiles
from mohone.elsewhere.pykeen import PyKEENFolder


def open_source(path: Path, relations: Path | None = None) -> Source:
    """Read the names and the form of a model of another tool.

    Args:
        path: a file of entity vectors (`.npz`, `.safetensors`, word2vec's `.txt`), or a folder that PyKEEN's
            `save_to_directory` wrote.
        relations: a file of relation vectors; None with a folder, or for entity vectors alone.

    Raises:
        DataError: files that are missing, damaged or of another form.
    """
    for each in (path, relations):
        check_there(each, "a folder of PyKEEN's or a file of vectors")
    if not path.is_dir():
        return FlatFiles(path, relations)
    if relations is not None:
        raise DataError(f"Vectors of relations must be left out beside {path}, a folder that has them.")
    return PyKEENFolder(path)
