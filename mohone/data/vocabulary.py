"""The names of a data set, of its splits too; without torch, which takes seconds."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from mohone.core.errors import DataError
from mohone.data.names import decoded

SPLITS = ("train", "valid", "test")


def as_name(value: Any) -> str | None:
    """A text, or an integer as it is written, also one of NumPy's; None: it is neither.

    >>> as_name("a"), as_name(7), as_name(7.0), as_name(True)
    ('a', '7', None, None)
    """
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


class Vocabulary:
    """Names in sorted (code point) order and their ids, so that a file's line order changes nothing.

    Example:
        >>> Vocabulary(["b", "a", "B", "b"]).ids
        {'B': 0, 'a': 1, 'b': 2}
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(set(names)))
        self._n = len(self.names)
        self._lines: bytes | None = None

    @classmethod
    def of_lines(cls, lines: bytes) -> Vocabulary:
        """Names that are sorted and unique, one a line; they become text when somebody asks for them."""
        vocabulary = cls.__new__(cls)
        vocabulary._n, vocabulary._lines = lines.count(b"\n"), lines
        return vocabulary

    @property
    def lines(self) -> bytes:
        """The names, one a line."""
        return "".join(f"{name}\n" for name in self.names).encode() if self._lines is None else self._lines

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each name at its id."""
        return decoded(self.lines)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each name's id."""
        return {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return self._n

    def id_of(self, name: object) -> int:
        """The id of a name, a text or an integer as it is written.

        Raises:
            DataError: it is none of the names; those like it are told.
        """
        text = as_name(name)
        if text is None:
            raise DataError(f"A name must be a text or an integer, but is {name!r}.")
        if text not in self.ids:
            raise DataError(f"{text!r} must be a name of the data set, but is none{self.names_like(text)}.")
        return self.ids[text]

    def names_like(self, name: str) -> str:
        """Up to three names that are nearly this one, for a message; empty: there are none.

        Example:
            >>> Vocabulary(["Zurich", "Z\u00fcrich"]).names_like("Zu\u0308rich")
            " (there is 'Z\u00fcrich', which differs in its Unicode normalisation alone)"
        """
        form = unicodedata.normalize("NFC", name)
        if twin := next((each for each in self.names if unicodedata.normalize("NFC", each) == form), None):
            return f" (there is {twin!r}, which differs in its Unicode normalisation alone)"
        near = difflib.get_close_matches(name, self.names, n=3)
        return f" (there is {', '.join(map(repr, near))})" if near else ""
