"""Columns of names of a Parquet file, as the lines that they would be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mohone.core.errors import DataError, first_line
from mohone.data.columns import find_columns
from mohone.data.opening import need_pyarrow
from mohone.data.triples import Table, is_row

_ROWS = 1 << 16


def read_parquet(path: Path, fields: tuple[str, ...], table: Table) -> None:
    """Read the columns of these names, or else all, which must be as many; a weight may be a number.

    Raises:
        ConfigError: pyarrow is not installed.
        DataError: a file that is not there or no such one; a column that is no text; an empty name, or one
            that holds a tab or an end of line.
    """
    need_pyarrow(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise DataError(f"{path} must be a file of triples, but does not exist.")
    try:
        with pq.ParquetFile(path) as file:
            columns = _columns(path, file.schema_arrow, fields)
            first = 0
            for batch in file.iter_batches(_ROWS, columns=columns):
                batch.validate(full=True)  # Are texts UTF-8? Arrow itself looks at none.
                _read_batch(path, [batch.column(each) for each in columns], fields, table, first)
                first += batch.num_rows
            if first != file.metadata.num_rows:  # Arrow ends in silence where the first column does.
                raise pa.ArrowInvalid(
                    f"{file.metadata.num_rows:,} rows are announced and {first:,} are there"
                )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} must be a Parquet file, but: {first_line(error)}.") from None


def count_columns(path: Path) -> int:
    """How many columns there are; 0 if it is no such file."""
    need_pyarrow(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return len(pq.read_schema(path))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return 0


def _columns(path: Path, schema: Any, fields: tuple[str, ...]) -> list[str]:
    import pyarrow as pa

    places = find_columns(schema.names, fields, path)
    names = [schema.names[place] for place in places or range(len(schema.names))]
    if places is None or schema.names != list(dict.fromkeys(schema.names)):
        raise DataError(
            f"{path} must have the columns {', '.join(fields)}, or {len(fields)}, but has {', '.join(names)}."
        )
    for name, wanted in zip(names, fields, strict=True):
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
        if not (text or (number and wanted == "weight")):
            raise DataError(f"{path}: the column {name} must hold text, but holds {kind}.")
    return names


def _read_batch(path: Path, columns: list[Any], fields: tuple[str, ...], table: Table, first: int) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [column.cast(pa.string()) for column in columns]
    rows = len(texts[0])
    if not any(text.null_count for text in texts):
        # A carriage return at a line's end is no part of a name: one more keeps that of a name.
        ended = [*texts[:-1], pc.binary_join_element_wise(texts[-1], "\r\n", "")]
        block = _bytes(pc.binary_join_element_wise(*ended, "\t"))
        if block.count(b"\n") == rows and table.read(block).fault is None:
            return
    lists = [text.to_pylist() for text in texts]
    row = next(i for i, names in enumerate(zip(*lists, strict=True)) if not is_row(names, len(fields)))
    raise DataError(
        f"{path}, row {first + row + 1:,}: there must be {len(fields)} names, none empty or with a tab or an "
        f"end of line, but there are {', '.join(repr(each[row]) for each in lists)}."
    )


def _bytes(texts: Any) -> bytes:
    """All texts of an array, one after another."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)
    return (
        bytes(memoryview(data)[ends[texts.offset] : ends[texts.offset + len(texts)]]) if len(texts) else b""
    )
