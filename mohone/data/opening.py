"""A file's bytes in blocks of whole lines, whatever it is packed with."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from mohone.core.errors import DataError, not_installed

PACKINGS = ("", ".gz", ".zst")
BLOCK = 1 << 24  # Bytes read at once.
BYTE_ORDER_MARK = "\ufeff"
_MARK = BYTE_ORDER_MARK.encode()


def line_blocks(path: Path) -> Iterator[bytes]:
    """The lines of a file, `.gz` and `.zst` unpacked, in blocks that end where a line ends.

    A byte-order mark at the start is left out; a last line without an end is given one.

    Raises:
        DataError: a file that is not there, cannot be read or is not packed as its name says.
    """
    try:
        with _open(path) as file:
            head = file.read(len(_MARK))
            rest = b"" if head == _MARK else head
            while block := file.read(BLOCK):
                end = block.rfind(b"\n") + 1
                if not end:
                    rest += block
                    continue
                yield rest + block[:end]
                rest = block[end:]
            if rest:
                yield rest.removesuffix(b"\n") + b"\n"
    except FileNotFoundError:
        raise DataError(f"{path} must be a file of triples, but does not exist.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path} must be packed by gzip, and whole, but: {error}.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{path} must be a file of triples, but: {reason.rstrip('.')}.") from None


def _open(path: Path) -> IO[bytes] | Any:
    if path.suffix == ".gz":
        return gzip.open(path)
    if path.suffix == ".zst":
        return need_pyarrow(path).input_stream(str(path), compression="zstd")
    return path.open("rb")


def need_pyarrow(path: Path) -> Any:
    """The library that reads this kind of file.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise not_installed("pyarrow", "arrow", f"for {path.suffix} files") from None
    return pyarrow
