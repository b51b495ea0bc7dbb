"""Vectors with their names, in files that other programs read."""

from __future__ import annotations

import json
import logging
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from mohone.core.errors import ConfigError, DataError, first_line
from mohone.core.files import replacing
from mohone.core.words import counted

log = logging.getLogger(__name__)
FORMATS = (".npz", ".safetensors", ".txt")
_WHITE = re.compile(r"[\s\u180e\u200b\ufeff]")  # To Python's readers, or to anyone else's.


def check_format(path: Path) -> None:
    """Is the file's ending that of a format?

    Raises:
        ConfigError: if not.
    """
    if path.suffix not in FORMATS:
        raise ConfigError(
            f"The ending of {path.name} must be one of {', '.join(FORMATS)}, but is {path.suffix!r}."
        )


def write_vectors(path: Path, names: Sequence[str], vectors: Tensor) -> None:
    """Write vectors and their names in the format that the file's ending says, whole or not at all.

    - `.npz`: numpy's, arrays `names` (of str) and `vectors`.
    - `.safetensors`: a tensor `vectors`; the names are JSON in the metadata's `names`.
    - `.txt`: word2vec's text: a line `n dim`, then a line `name numbers...` each. White space in a name,
      which would end it for most readers, is written as `_`, and a warning says so; `rows_by_name` knows.

    What is read back is what was written, bit for bit, but for that white space.

    Args:
        path: to be written or replaced.
        names: n of them.
        vectors: `(n, dim)` float32.

    Raises:
        ConfigError: another ending.
        DataError: two names that a text would not tell apart, or a name that numpy would cut short.
    """
    check_format(path)
    names = _as_written(path, names)
    with replacing(path) as part:
        if path.suffix == ".npz":
            with part.open("wb") as file:
                np.savez(file, names=np.array(names, dtype=np.str_), vectors=vectors.numpy())
        elif path.suffix == ".safetensors":
            _save_tensors(part, names, vectors)
        else:
            with part.open("w", encoding="utf-8", newline="\n") as file:
                file.write(f"{len(names)} {vectors.shape[1]}\n")
                for name, row in zip(names, vectors.tolist(), strict=True):
                    file.write(f"{name} {' '.join(f'{x:.9g}' for x in row)}\n")


def _save_tensors(path: Path, names: Sequence[str], vectors: Tensor) -> None:
    """Write `.safetensors`; what the system says against it is an OSError, as of other files."""
    try:
        save_file({"vectors": vectors.contiguous()}, path, {"names": json.dumps(list(names))})
    except SafetensorError as error:
        found = re.search(r"os error (\d+)", str(error))
        if found is None:
            raise
        code = int(found[1])
        raise OSError(code, os.strerror(code)) from error


def read_vectors(path: Path) -> tuple[list[str], Tensor]:
    """Names and `(n, dim)` float32 vectors of a file that `write_vectors` has written.

    Raises:
        ConfigError: another ending.
        DataError: a file that is missing or not of its format, or without a row for each name.
    """
    names, vectors = _read(path)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"{path} must have texts for its names, one for each row, but has {_kind(names)}.")
    if vectors.dim() != 2 or len(vectors) != len(names):
        raise DataError(
            f"{path} must have a row of numbers for each of its {counted(len(names), 'name')}, but its "
            f"vectors are of shape {tuple(vectors.shape)}."
        )
    return names, vectors


def _kind(names: Any) -> str:
    if not isinstance(names, list):
        return f"a {type(names).__name__}"
    return next(f"{name!r} among them" for name in names if not isinstance(name, str))


def rows_by_name(
    path: Path,
    written: Sequence[str],
    names: Sequence[str],
    kind: str = "entity",
    needed: Sequence[bool] | None = None,
) -> Tensor:
    """The row of each name in a file of vectors, `(n_names,)`; -1: it has none, and is not needed.

    In a text also that of the name as `write_vectors` writes it there, if that is no other name's.

    Args:
        path: of the file.
        written: its names.
        names: distinct ones that are looked for.
        kind: what they are of, for messages.
        needed: which of them must have a row; None: all.

    Raises:
        DataError: a name has several rows, or a needed one has none.

    Example:
        >>> rows_by_name(Path("v.txt"), ["a_b", "c_d"], ["a b", "c d", "c_d"], needed=[True, False, False])
        tensor([ 0, -1,  1])
    """
    if len(set(written)) < len(written):
        twice = next(name for name, n in Counter(written).items() if n > 1)
        raise DataError(f"{path} must have one vector for each {kind}, but has several for {twice!r}.")
    rows = _found_rows(path, written, names)
    musts = needed or [True] * len(names)
    missing = [name for name, row, must in zip(names, rows, musts, strict=True) if must and row < 0]
    if missing:
        more = f" and {counted(len(missing) - 1, 'other')}" if len(missing) > 1 else ""
        of = "" if needed is None else " of train"
        raise DataError(
            f"{path} must have a vector for each {kind}{of}, but has none for {missing[0]!r}{more}."
        )
    return torch.tensor(rows, dtype=torch.int64)


def _found_rows(path: Path, written: Sequence[str], names: Sequence[str]) -> list[int]:
    places = {name: i for i, name in enumerate(written)}
    rows = [places.get(name, -1) for name in names]
    if path.suffix != ".txt":
        return rows
    texts = [_WHITE.sub("_", name) for name in names]
    n_of = Counter(texts)
    return [
        places.get(text, -1) if row < 0 and n_of[text] == 1 else row
        for row, text in zip(rows, texts, strict=True)
    ]


def _as_written(path: Path, names: Sequence[str]) -> Sequence[str]:
    """The names as a file of this ending has them."""
    if path.suffix == ".npz" and (cut := next((name for name in names if name.endswith("\0")), None)):
        raise DataError(
            f"In .npz a name must not end in a NUL, but {cut!r} does: write .safetensors instead."
        )
    if path.suffix != ".txt":
        return names
    out = [_WHITE.sub("_", name) for name in names]
    if len(set(out)) < len(set(names)):
        twice = next(name for name, n in Counter(out).items() if n > 1)
        raise DataError(
            f"Names must stay distinct with `_` for white space, but {twice!r} stands for two: write .npz or "
            ".safetensors instead."
        )
    changed = [name for name, text in zip(names, out, strict=True) if name != text]
    if changed:
        log.warning(
            "%s: white space in names is written as `_` (in %d of them, such as %r): .npz and .safetensors "
            "keep it",
            path,
            len(changed),
            changed[0],
        )
    return out


def _read(path: Path) -> tuple[Any, Tensor]:
    """Whatever the file has for names, and its vectors."""
    check_format(path)
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return arrays["names"].tolist(), _real(torch.from_numpy(arrays["vectors"]))
        if path.suffix == ".safetensors":
            with safe_open(path, "pt") as file:
                return _names_of(file.metadata()), _real(file.get_tensor("vectors"))
        return _read_text(path)
    except Exception as error:
        reason = first_line(error) or type(error).__name__
        raise DataError(f"{path} must hold vectors and names, but: {reason}.") from error


def _names_of(metadata: Mapping[str, str] | None) -> Any:
    """What `.safetensors` has beside its tensors for names."""
    try:
        return json.loads((metadata or {})["names"])
    except (KeyError, ValueError):
        raise ValueError("its metadata have no `names`, a JSON list of a text for each row") from None


def _read_text(path: Path) -> tuple[list[str], Tensor]:
    """Names and vectors of word2vec's text."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        first = next(lines, "").split()
        if len(first) != 2 or not all(each.isdecimal() for each in first):
            raise ValueError("line 1 is not the number of rows and that of the numbers in each")
        n, dim = map(int, first)
        names, rows = [], []
        for number, line in enumerate(lines, 2):
            name, *texts = line.rstrip(" \r\n").rsplit(" ", dim)  # word2vec ends lines in blanks.
            rows.append(_numbers(texts, dim, number))
            names.append(name)
    if len(rows) != n:
        raise ValueError(f"{n} rows are announced and {len(rows)} are there")
    return names, torch.tensor(rows).reshape(-1, dim)


def _numbers(texts: Sequence[str], n: int, line: int) -> list[float]:
    """The numbers of a line after its name."""
    if len(texts) != n:
        raise ValueError(f"line {line} is not a name and {n} numbers")
    try:
        return [float(text) for text in texts]
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None


def _real(vectors: Tensor) -> Tensor:
    """Float32 numbers; of complex ones all real parts, then all imaginary ones, as ComplEx has them."""
    if vectors.is_complex():
        vectors = torch.cat([vectors.real, vectors.imag], 1)
    return vectors.float()
