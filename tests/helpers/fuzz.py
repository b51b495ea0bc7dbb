"""Damaged files: how bytes and values are changed, and what may come of reading them.

`MOHONE_FUZZ=10000 python -m pytest tests/fuzz` tries so many of each kind.
"""

from __future__ import annotations

import copy
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from mohone.core.errors import MohoneError

N_TRIED = int(os.environ.get("MOHONE_FUZZ", "0"))
_MOST_MEMORY = 1 << 19  # KiB that a reader may take beyond what was ever taken before.
PIECES = (
    *(
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b" ",
        b",",
        b":",
        b'"',
        b"'",
        b"\x00",
        b"\xff",
        b"\xe9",
        b"\x80",
        b"\xed\xa0\x80",
    ),
    *("\ufeff".encode(), "\u2028".encode(), "\x85".encode(), b"\x0b", b"\x0c", b"\x1c", "\u0663".encode()),
    *(
        b"nan",
        b"inf",
        b"-1",
        b"0",
        b"1e400",
        b"1_0",
        b"9" * 20,
        b"9" * 5000,
        b"null",
        b"true",
        b"\\ud800",
        b"?",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b"[" * 3000,
        b"{}",
        b"- ",
        b"&a *a ",
        b"!!python/name:os.system ",
        b"${x}",
        b"%",
    ),
)
ODD = (
    *(None, True, False, 0, 1, -1, 3, 10**20, 10**400, 0.5, -0.5, 1e308, float("nan"), float("inf")),
    *(
        "",
        "x",
        "a\nb",
        "\ud800",
        "nan",
        "1",
        "/",
        "none",
        "${x}",
        "\x00",
        [],
        {},
        [[]],
        [1, "x"],
        {"x": 1},
        {"": None},
    ),
)


def tries(usual: int, cost: int = 1) -> settings:
    """So many files are tried, or as many as `MOHONE_FUZZ` says.

    Args:
        usual: files where nothing is said.
        cost: so many times fewer are tried of what takes long.
    """
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    phases = [Phase.explicit, Phase.generate] if N_TRIED else list(Phase)  # Of many, to shrink takes minutes.
    return settings(
        max_examples=max(1, N_TRIED // cost) if N_TRIED else usual,
        phases=phases,
        deadline=None,
        suppress_health_check=checks,
        database=None,
    )


Edit = tuple[str, int, int, int, bytes]


def mutated(data: bytes, pieces: Sequence[bytes] = PIECES) -> st.SearchStrategy[bytes]:
    """The bytes of a whole file with one to four changes.

    Bits are turned, pieces cut out, put in, doubled and exchanged.

    Args:
        data: of the file.
        pieces: what is put in, beside what stands in the file.
    """
    place, length = st.integers(0, len(data)), st.integers(0, 40) | st.integers(0, len(data))
    edit = st.tuples(
        st.sampled_from(["flip", "set", "cut", "end", "insert", "double", "exchange"]),
        place,
        place,
        length,
        st.sampled_from(pieces) | st.binary(max_size=8),
    )
    return st.lists(edit, min_size=1, max_size=4).map(lambda edits: reduce(_edited, edits, data))


def _edited(data: bytes, edit: Edit) -> bytes:
    kind, a, b, length, piece = edit
    a, b = sorted((min(a, len(data)), min(b, len(data))))
    if kind == "flip":
        return data[:a] + bytes([data[a] ^ (1 << length % 8)]) + data[a + 1 :] if a < len(data) else data
    if kind == "set":
        return data[:a] + piece + data[a + len(piece) :]
    if kind == "cut":
        return data[:a] + data[a + length :]
    if kind == "end":
        return data[:b]
    if kind == "insert":
        return data[:a] + piece + data[a:]
    if kind == "double":
        return data[:b] + data[a : a + length] + data[b:]
    length = min(length, b - a)  # Two pieces that do not touch each other.
    return data[:a] + data[b : b + length] + data[a + length : b] + data[a : a + length] + data[b + length :]


def changed(value: Any, odd: Sequence[Any] = ODD) -> st.SearchStrategy[Any]:
    """A value of JSON's or YAML's with one to three changes: parts that are others, missing or elsewhere."""
    places = list(_places(value))
    deep = st.builds(_nested, st.sampled_from([[], {}]), st.sampled_from([3, 200]))
    new = st.sampled_from(odd) | st.sampled_from(places).map(lambda path: _at(value, path)) | deep
    change = st.tuples(st.sampled_from(places), st.sampled_from(["put", "put", "drop", "add"]), new)
    return st.lists(change, min_size=1, max_size=3).map(lambda changes: _with_changes(value, changes))


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from _places(each, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _nested(kind: Any, depth: int) -> Any:
    value = copy.copy(kind)
    for _ in range(depth):
        value = {"x": value} if isinstance(kind, dict) else [value]
    return value


def _with_changes(value: Any, changes: list[tuple[tuple[Any, ...], str, Any]]) -> Any:
    out = copy.deepcopy(value)
    for path, kind, new in changes:
        if not path:
            out = copy.deepcopy(new) if kind == "put" else out
            continue
        try:
            node = _at(out, path[:-1])
            if kind == "drop":
                del node[path[-1]]
            elif kind == "add" and isinstance(node, dict):
                node[str(new)[:9]] = copy.deepcopy(new)
            else:
                node[path[-1]] = copy.deepcopy(new)
        except (KeyError, IndexError, TypeError):  # An earlier change took the place away.
            continue
    return out


def outcome(read: Callable[[], Any], *names: object) -> Any:
    """What is read, or the sentence that refuses it; any other exception fails the test.

    Args:
        read: reads a file.
        names: one of which a sentence must hold, such as the file's.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        return read()
    except MohoneError as error:
        assert_is_sentence(str(error), *names)
        return Refused(str(error))
    except OSError as error:  # Commands show it as it is: what the system said, and of which file.
        if error.filename is None:
            raise
        return Refused(str(error))
    finally:
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert taken < _MOST_MEMORY, f"{taken} KiB were taken"


class Refused(str):
    """The sentence by which a file was refused."""

    __slots__ = ()


def assert_is_sentence(said: str, *names: object) -> None:
    """One line that is a sentence and names what is meant."""
    assert said.splitlines() == [said], said
    assert said.endswith("."), said
    assert not names or any(str(name) in said for name in names), said
