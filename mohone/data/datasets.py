"""The named data sets and where they come from: the package, a folder, or the network."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from mohone.core.errors import NO_DATA, ConfigError, DataError, require_bool
from mohone.core.files import check_folder, replacing
from mohone.core.progress import progress_bar
from mohone.core.terminal import typed
from mohone.data.headers import check_header, read_splits
from mohone.data.kept import kept, named
from mohone.data.knowledge_graph import SPLITS, KnowledgeGraph, build_knowledge_graph
from mohone.data.opening import PACKINGS
from mohone.data.ordering import fingerprint
from mohone.data.reading import TripleFile, read_triples

_SUFFIXES = (".txt", ".tsv", ".csv")
_ENDINGS = (*(suffix + packing for suffix in _SUFFIXES for packing in PACKINGS), ".parquet")
_TIMEOUT_S = 30


@dataclass(frozen=True)
class FolderDataset:
    """`train`, `valid` and `test` in a folder of the user's, each `.txt`, `.tsv`, `.csv` or `.parquet`.

    Attributes:
        name: of the data set; None: that of the folder.
        header: are the files' first lines no triples? None: if they are the same, of words that stand nowhere
            else.
        weights: is there a fourth field, the weight of a triple?
        store_dir: what was read of large files is kept in it; None: it is not.
    """

    name: str | None
    path: str | None
    delimiter: str = "\t"
    header: bool | None = None
    weights: bool = False
    store_dir: str | None = None

    def check(self) -> dict[str, Path]:
        """The file of each split.

        Raises:
            ConfigError, DataError: a value that cannot be, a folder or file that is missing.
        """
        if not self.path:
            raise ConfigError(NO_DATA)
        check_header(self.header)
        require_bool("dataset.weights", self.weights)
        folder = Path(self.path).expanduser()
        check_folder("dataset.path", folder)
        return _find_files(folder)

    def load(self) -> KnowledgeGraph:
        """Read the three files.

        Raises:
            ConfigError, DataError: as `check`, and a file that is malformed.
        """
        paths = self.check()
        if self.store_dir is None:
            return self._read(paths)
        settings = {"delimiter": self.delimiter, "header": self.header, "weights": self.weights}
        root = Path(self.store_dir) / "graphs"
        return named(kept(root, paths, settings, lambda: self._read(paths)), self.called)

    @property
    def called(self) -> str:
        """The data set's name."""
        return self.name or typed(Path(self.path or "").expanduser().resolve().name) or "folder"

    def _read(self, paths: Mapping[str, Path]) -> KnowledgeGraph:
        files, warnings = read_splits(paths, self.delimiter, self.header, self.weights)
        return build_knowledge_graph(self.called, files, warnings)


@dataclass(frozen=True)
class PackagedDataset:
    """A small data set that lies inside the package."""

    name: str

    def load(self) -> KnowledgeGraph:
        """Read the three files."""
        paths = _find_files(Path(__file__).parent / self.name)
        return build_knowledge_graph(self.name, {split: read_triples(path) for split, path in paths.items()})


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


def _find_files(folder: Path) -> dict[str, Path]:
    """The file of each split."""
    return {split: find_file(folder, split) for split in SPLITS}


def find_file(folder: Path, name: str) -> Path:
    """The file of triples of this name, whatever its ending.

    Raises:
        DataError: there is none, or more than one.
    """
    found = files_of(folder, name)
    if not found:
        raise DataError(
            f"{folder / name}.txt or {name}.tsv must be there, but neither is (nor .csv or .parquet, "
            "nor a text packed as .gz or .zst)."
        )
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise DataError(f"There must be one file of {name}, but {folder} has {names}.")
    return found[0]


def files_of(folder: Path, name: str) -> list[Path]:
    """All files of triples of this name."""
    return [path for ending in _ENDINGS if (path := folder / f"{name}{ending}").is_file()]
