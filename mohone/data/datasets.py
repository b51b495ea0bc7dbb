"""The named data sets and where they come from: the package, a folder, or the network."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from mohone.core.errors import ConfigError, DataError
from mohone.core.files import replacing
from mohone.core.progress import progress_bar
from mohone.data.knowledge_graph import SPLITS, KnowledgeGraph, build_knowledge_graph
from mohone.data.ordering import fingerprint
from mohone.data.reading import TripleFile, read_triples

_SUFFIXES = (".txt", ".tsv")
_TIMEOUT_S = 30


@dataclass(frozen=True)
class FolderDataset:
    """`train`, `valid` and `test` in a folder of the user's, each `.txt` or `.tsv`."""

    name: str
    path: str | None
    delimiter: str = "\t"

    def load(self) -> KnowledgeGraph:
        """Read the three files.

        Raises:
            DataError: a folder or file that is missing or malformed.
        """
        if not self.path:
            raise ConfigError("`dataset.path` must be a folder with train, valid and test files.")
        folder = Path(self.path).expanduser()
        if not folder.is_dir():
            raise DataError(f"`dataset.path` must be a folder, but {folder} is none.")
        return _read_folder(self.name, folder, self.delimiter)


@dataclass(frozen=True)
class PackagedDataset:
    """A small data set that lies inside the package."""

    name: str

    def load(self) -> KnowledgeGraph:
        """Read the three files."""
        return _read_folder(self.name, Path(__file__).parent / self.name)


@dataclass(frozen=True)
class PublishedDataset:
    """A benchmark with known contents, from the user's data folder or else downloaded.

    Attributes:
        folder: the name of its folder in the data folder.
        data_dir: the data folder; None: the environment's `MOHONE_DATA`, else `~/.cache/mohone`.
        url: where a split is to be had, with `{split}` in it.
        sha256: for each split the digest of its sorted unique lines, so that any mirror will do.
    """

    name: str
    folder: str
    data_dir: str | None
    url: str
    sha256: Mapping[str, str]

    def load(self) -> KnowledgeGraph:
        """Read the three files, downloading those that are not there.

        Raises:
            DataError: a file that cannot be had, or is not the published one.
        """
        folder = self._root() / self.folder
        files = {}
        for split in SPLITS:
            path = folder / f"{split}.txt"
            if not path.exists():
                self._download(split, path)
            files[split] = self._read_checked(split, path)
        return build_knowledge_graph(self.name, files)

    def _read_checked(self, split: str, path: Path) -> TripleFile:
        file = read_triples(path)
        found = fingerprint(file.triples)
        if found != self.sha256[split]:
            raise DataError(
                f"{path} must hold the {split} split of {self.name} (sorted lines with sha256 "
                f"{self.sha256[split][:12]}), but holds something else ({found[:12]})."
            )
        return file

    def _root(self) -> Path:
        named = self.data_dir or os.environ.get("MOHONE_DATA")
        return Path(named).expanduser() if named else Path.home() / ".cache" / "mohone"

    def _download(self, split: str, path: Path) -> None:
        url = self.url.format(split=split)
        try:
            with replacing(path) as part:
                self._fetch(url, part, f"downloading {self.name}/{split}.txt")
                self._read_checked(split, part)
        except (OSError, HTTPException, DataError) as error:
            raise DataError(
                f"{self.name} needs {path}, which is not there and could not be downloaded from {url} "
                f"({error}): put the file there, or name the folder that holds {self.folder}/ by "
                "`data_dir=FOLDER` or the environment's MOHONE_DATA."
            ) from None

    @staticmethod
    def _fetch(url: str, path: Path, description: str) -> None:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as response, path.open("wb") as file:
            length = int(response.headers.get("Content-Length") or 0) or None
            with progress_bar(description, length, unit="B", unit_scale=True) as bar:
                while block := response.read(1 << 16):
                    file.write(block)
                    bar.update(len(block))


def _read_folder(name: str, folder: Path, delimiter: str = "\t") -> KnowledgeGraph:
    files: dict[str, TripleFile] = {}
    for split in SPLITS:
        paths = [folder / f"{split}{suffix}" for suffix in _SUFFIXES]
        found = [path for path in paths if path.is_file()]
        if len(found) != 1:
            state = "neither is" if not found else "both are"
            raise DataError(f"{paths[0]} or {paths[1].name} must be there, but {state}.")
        files[split] = read_triples(found[0], delimiter)
    return build_knowledge_graph(name, files)
