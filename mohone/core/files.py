"""Files that are whole or absent: written aside, then renamed into place. And locks between processes."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import os
import shutil
import socket
import tempfile
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mohone.core.errors import NO_SPACE, DataError

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY)
_LEAST_SPACE = 1 << 20  # Of a disk that is not full, in bytes.
_LONG = 100  # Bytes of a name.
_FORGOTTEN = 30 * 24 * 3600.0  # Seconds after which a part that another machine began is nobody's.


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of an empty file beside `path`, renamed to `path` if the block ends well.

    Folders that are made for it are left only if it does.
    """
    made = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    clear_parts(path)
    part = part_beside(path)
    part.touch()
    try:
        with _naming(path):
            yield part
        part.chmod(0o644)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
        for folder in made:
            with contextlib.suppress(OSError):  # One that is not empty stays.
                folder.rmdir()


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let the error of a full disk say for which file: of an open one the system does not."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE and error.filename is None:
            error.filename = str(path)
        raise


@contextlib.contextmanager
def making(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `folder`, renamed to `folder` if the block ends well.

    Raises:
        OSError: if `folder` is there and not empty.
    """
    with _part_of(folder) as part:
        yield part
        part.replace(folder)


@contextlib.contextmanager
def making_once(folder: Path, is_whole: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield a temporary folder beside `folder`, renamed to it if the block ends well.

    Several processes may make the same folder at once, also where none sees a lock of another: each ends
    well, none takes away what another works on, and the folder of the first to end stays.

    Args:
        is_whole: may the folder that is there stay? Else it gives way.
    """
    with _part_of(folder) as part:
        yield part
        _put(part, folder, is_whole)


@contextlib.contextmanager
def _part_of(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside `folder`, gone after the block unless it was renamed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    clear_parts(folder)
    part = part_beside(folder)
    part.mkdir()
    try:
        with _naming(folder):
            yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _put(part: Path, folder: Path, is_whole: Callable[[Path], bool]) -> None:
    """Rename a folder to one that may be there, whole or damaged."""
    while True:
        try:
            part.rename(folder)
            return
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
        if is_whole(folder):
            return
        aside = part_beside(folder)
        with contextlib.suppress(FileNotFoundError):  # Another process put it aside.
            folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def part_beside(path: Path) -> Path:
    """A new name beside `path` for what is written aside; it says which process of which machine writes."""
    return path.with_name(f"{_stem(path)}.part-{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}")


def _stem(path: Path) -> str:
    """What the names of its parts begin with: a name of 255 bytes has no room for more."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= _LONG else hashlib.sha256(name).hexdigest()


def clear_parts(path: Path) -> None:
    """Remove what processes that are no more began of `path`; of other machines' what is a month old."""
    for part in path.parent.glob(f"{glob.escape(_stem(path))}.part-*"):
        if not _is_abandoned(part):
            continue
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def _is_abandoned(part: Path) -> bool:
    host, _, process = part.name.partition(".part-")[2].rpartition("-")[0].rpartition("-")
    if host == socket.gethostname() and os.name == "posix":
        return not _runs(int(process))
    with contextlib.suppress(FileNotFoundError):
        return time.time() - part.stat().st_mtime > _FORGOTTEN
    return False


def _runs(process: int) -> bool:
    """Is there a process of this number on this machine?"""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # Another user's.
        return True
    return True


@contextlib.contextmanager
def locked(path: Path, on_waiting: Callable[[], object]) -> Iterator[None]:
    """Hold the lock file `path` for the length of the block; it is left there.

    Args:
        path: of the lock, whose folder is made.
        on_waiting: called if another process holds it, before waiting for that.

    Raises:
        DataError: the file system has no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_waiting()
            lock.acquire()
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        raise DataError(
            f"{path} must lie on a file system that can lock files, but this one cannot ({error.strerror}): "
            "name folders on another by `store_dir` and by `hydra.run.dir` or `hydra.sweep.dir`."
        ) from None
    try:
        yield
    finally:
        lock.release()


def check_file(name: str, path: Path | None) -> None:
    """Refuse a path to read from that is no file, before anything that takes seconds is imported.

    `name` is that of the option or key that says it; None for a path that is not given.
    """
    if path is not None and not _holds(path.is_file):
        raise DataError(f"`{name}` must be a file, but {path} is none.")


def check_folder(name: str, path: Path | None) -> None:
    """The same of a folder."""
    if path is not None and not _holds(path.is_dir):
        raise DataError(f"`{name}` must be a folder, but {path} is none.")


def check_there(path: Path | None, what: str) -> None:
    """The same of what may be a file or a folder; `what` it must be."""
    if path is not None and not _holds(path.exists):
        raise DataError(f"{path} must be {what}, but is not there.")


def _holds(question: Callable[[], bool]) -> bool:
    """The answer of a path; no for one that is too long, or that cannot be looked at."""
    with contextlib.suppress(OSError):
        return question()
    return False


def check_writable(folder: Path) -> None:
    """Make a folder and try to write in it.

    Raises:
        OSError: if that cannot be done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def full_disk(error: BaseException, folders: Sequence[Path]) -> Path | None:
    """The file or folder for which there was no space; None: the error is another.

    Args:
        error: what came of writing; torch does not say why it could not.
        folders: that may have been written to.
    """
    is_full = False
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        if error.filename:
            return Path(str(error.filename))
        is_full = True
    if isinstance(error, RuntimeError) and "write" in str(error):
        for folder in folders:
            if folder.is_dir() and shutil.disk_usage(folder).free < _LEAST_SPACE:
                return folder
    if isinstance(error, RuntimeError) and "unexpected pos" in str(error):  # Torch could write no more.
        is_full = True
    if is_full:
        there = [folder for folder in folders if folder.is_dir()]
        return min(there, key=lambda folder: shutil.disk_usage(folder).free, default=None)
    return None


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, atomically."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", errors="surrogateescape")


def write_json(path: Path, value: Any) -> None:
    """Write `value` to `path` as JSON, atomically; NaN and infinity are refused by `json`."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; ValueError where it is none, or nested without end."""
    try:
        return json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


SUMS = "sums.json"  # In a folder: the checksum of each other file of it.


def keep_sums(folder: Path) -> None:
    """Write the checksums of a folder's files beside them."""
    (folder / SUMS).write_text(json.dumps(_sums(folder)), encoding="utf-8")


def has_its_sums(folder: Path) -> bool:
    """Are its files those that `keep_sums` saw?

    Raises:
        ValueError, OSError: there are no checksums.
    """
    return bool(read_json(folder / SUMS) == _sums(folder))


def _sums(folder: Path) -> dict[str, int]:
    """By name; a gigabyte takes a second."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    return {path.name: _sum(path) for path in files}


def _sum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value


def clear(path: Path) -> None:
    """Remove what is there, be it a file or a folder with all that it has."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
