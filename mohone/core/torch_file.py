"""Files of `torch.save`, read as data: nothing that a pickle names is imported, nothing it calls is run."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from mohone.core.errors import DataError, first_line
from mohone.core.files import replacing

_ALIGNED = 64  # Bytes: where torch lets the numbers of a tensor begin.
_REBUILD = "torch._utils._rebuild_"
_DTYPES = {
    f"torch.{name}Storage": dtype
    for name, dtype in (
        ("Double", torch.float64),
        ("Float", torch.float32),
        ("Half", torch.float16),
        ("BFloat16", torch.bfloat16),
        ("ComplexFloat", torch.complex64),
        ("ComplexDouble", torch.complex128),
    )
}


class Inert:
    """What a pickle says of an object: the class or function it names, and what that would be given.

    Attributes:
        name: of the class or function, dotted.
        args: it would be called with these.
        state: the attributes that the object would have.
        items: what it would hold by key.
    """

    name: ClassVar[str] = ""
    args: tuple[Any, ...]
    state: dict[str, Any]
    items: dict[Any, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Inert:  # noqa: ARG004, D102
        made = object.__new__(cls)
        made.args, made.state, made.items = args, {}, {}
        return made

    def __setstate__(self, state: Any) -> None:
        self.state = state if isinstance(state, dict) else {}

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items[key] = value

    def __call__(self, *args: Any) -> Inert:  # noqa: D102
        return Inert(self, *args)

    def append(self, value: Any) -> None:
        """Nothing that a list would hold is kept."""

    def extend(self, values: Any) -> None:
        """Nothing that a list would hold is kept."""

    def add(self, value: Any) -> None:
        """Nothing that a set would hold is kept."""


class _InertUnpickler(pickle._Unpickler):
    """Builds numbers, texts, tuples, lists and dictionaries; all else is `Inert`.

    The one in Python, since the one in C makes room for as many objects as the file claims.
    """

    def find_class(self, module: str, name: str) -> type[Inert]:
        """A class that does nothing, instead of the one that is named."""
        return type("Inert", (Inert,), {"name": f"{module}.{name}"})

    def persistent_load(self, pid: Any) -> Any:
        """The place of a tensor's numbers stays the tuple that it is."""
        return pid


@dataclass(frozen=True)
class TorchFile:
    """A file of `torch.save`.

    Attributes:
        path: of the file.
        folder: in it, of all records.
        content: what was saved, with `Inert` in place of all that is no plain value.
    """

    path: Path
    folder: str
    content: Any

    def tensor(self, node: Any) -> Tensor:
        """The tensor or parameter that `node` of the content describes.

        Raises:
            DataError: `node` describes none, or the file lacks its numbers.
        """
        with _told(self.path, "its tensors cannot be read"):
            place = _place(node)
            with zipfile.ZipFile(self.path) as archive:
                storage = archive.read(self._record(place.key))
            return place.view(storage).clone()

    def copy(self, out: Path, tensors: Mapping[Any, Tensor]) -> None:
        """Write the file anew, with other numbers in some of its tensors.

        Args:
            out: to be written or replaced.
            tensors: by node of the content; they get the shape and type of those there are.
        """
        with _told(self.path, "it cannot be copied"), zipfile.ZipFile(self.path) as archive:
            changed: dict[str, bytearray] = {}
            for node, tensor in tensors.items():
                place = _place(node)
                record = self._record(place.key)
                storage = changed.setdefault(record, bytearray(archive.read(record)))
                view = place.view(storage)
                view.copy_(tensor.reshape(view.shape))
            with replacing(out) as part, zipfile.ZipFile(part, "w") as copy:
                for info in archive.infolist():
                    data = bytes(changed[info.filename]) if info.filename in changed else archive.read(info)
                    copy.writestr(_aligned(info, copy.start_dir), data)

    def _record(self, key: str) -> str:
        return f"{self.folder}/data/{key}"


@contextmanager
def _told(path: Path, what: str) -> Iterator[None]:
    """Makes a sentence of whatever goes wrong in a file that is not what it seems."""
    try:
        yield
    except (DataError, OSError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}, {first_line(error)}"
        raise DataError(f"{path} must be a whole file of `torch.save`, but {what}: {reason}.") from None


@dataclass(frozen=True)
class _Place:
    """Where the numbers of a tensor lie: in which record, of which type, from where on and how far apart."""

    key: str
    dtype: torch.dtype
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def view(self, storage: bytes | bytearray) -> Tensor:
        """The tensor in its storage: a change of it changes a `bytearray`."""
        buffer = bytearray(storage) if isinstance(storage, bytes) else storage
        numbers = torch.frombuffer(buffer, dtype=self.dtype)
        last = self.offset + sum((n - 1) * step for n, step in zip(self.size, self.stride, strict=True))
        least = min((self.offset, *self.size, *self.stride), default=0)
        if least < 0 or last >= len(numbers):
            raise ValueError(f"{len(numbers)} numbers are too few for a tensor of shape {self.size}")
        return numbers.as_strided(self.size, self.stride, self.offset)


def read_torch_file(path: Path) -> TorchFile:
    """Read the description of what `torch.save` wrote, and no numbers yet.

    Raises:
        DataError: a file that is missing, damaged or of another kind.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist()]
            if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
                raise ValueError("its records are compressed")
            roots = [name.removesuffix("/data.pkl") for name in names if name.endswith("/data.pkl")]
            if len(roots) != 1:
                raise ValueError("it has no record data.pkl")
            order = f"{roots[0]}/byteorder"
            if order in names and archive.read(order) != b"little":
                raise ValueError("its numbers are not little-endian")
            data = archive.read(f"{roots[0]}/data.pkl")
        return TorchFile(path, roots[0], _InertUnpickler(io.BytesIO(data)).load())
    except FileNotFoundError:
        raise DataError(f"{path} must be a file of `torch.save`, but is not there.") from None
    except Exception as error:  # A damaged pickle can raise anything.
        raise DataError(
            f"{path} must be a whole file of `torch.save`, but cannot be read: {first_line(error)}."
        ) from None


def _place(node: Any) -> _Place:
    """Of a tensor, or of a parameter, which is made of a tensor."""
    if isinstance(node, Inert) and node.name.startswith(f"{_REBUILD}parameter"):
        node = node.args[0]
    if not isinstance(node, Inert) or not node.name.startswith(f"{_REBUILD}tensor"):
        raise TypeError("a tensor is wanted")
    (_, storage, key, _, _), offset, size, stride = node.args[:4]
    if storage.name not in _DTYPES:
        raise TypeError(f"{storage.name} holds no floating-point numbers")
    numbers = (offset, *size, *stride)
    if not all(type(number) is int for number in numbers):
        raise TypeError("a tensor's shape must be of integers")
    return _Place(str(key), _DTYPES[storage.name], offset, tuple(size), tuple(stride))


def _aligned(info: zipfile.ZipInfo, start: int) -> zipfile.ZipInfo:
    """The header of a copied record whose data begin at a multiple of 64 bytes, as torch likes it."""
    header = zipfile.ZipInfo(info.filename, info.date_time)
    padding = -(start + 30 + len(info.filename.encode()) + 4) % _ALIGNED
    header.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
    return header


def entries(node: Any) -> dict[Any, Any]:
    """What a dictionary in the content holds: one of Python's own, or one that stayed `Inert`."""
    if isinstance(node, dict):
        return node
    return node.items if isinstance(node, Inert) else {}


def fault_of_tensors(path: Path) -> str | None:
    """What is wrong with a file of our own tensors: a zip file, with a checksum of each part; None: nothing.

    Torch itself looks at no checksum when it reads.
    """
    try:
        with zipfile.ZipFile(path) as parts:
            if bad := parts.testzip():
                return f"the checksum of {bad!r} is another"  # A damaged name may have an end of line.
        torch.load(path, weights_only=True, map_location="cpu", mmap=True)
    except (PermissionError, FileNotFoundError):
        raise
    except Exception as error:  # zipfile, zlib, struct and torch have one each for every kind of damage.
        return first_line(error) or type(error).__name__
    return None
