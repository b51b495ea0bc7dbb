"""The character between the fields of a line, and the one that a line seems to have in its place."""

from __future__ import annotations

import re
from collections.abc import Collection

from mohone.core.errors import ConfigError

_CALLED = {"\t": "tab-separated", ",": "comma-separated", " ": "space-separated"}
_TYPED = {"\t": r"'\t'", ",": ","}  # In a shell; the others in quotes.
_NUMBER = re.compile(r"\d*\.?\d+(e[+-]?\d+)?", re.IGNORECASE)
_USUAL = ("\t", ",", ";", "|")


def separator(text: object) -> str:
    r"""The delimiter that is meant: a backslash and a t are a tab, as shells give it.

    Raises:
        ConfigError: it is no one character, or an end of line.

    Example:
        >>> separator(r"\t"), separator(";")
        ('\t', ';')
    """
    delimiter = "\t" if text == r"\t" else text
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in "\r\n":
        raise ConfigError(f"The delimiter (`dataset.delimiter`) must be one character, but is {text!r}.")
    return delimiter


def kind(delimiter: str) -> str:
    """What fields with this between them are called."""
    return _CALLED.get(delimiter, f"separated by {delimiter!r}")


def advice(line: str, delimiter: str, wanted: Collection[int]) -> str:
    """What is to be said of a line that has too few fields or too many: separators, weights, quotes.

    Args:
        delimiter: that it was read with.
        wanted: numbers of fields that it may have.

    Example:
        >>> advice("a;r;b", ",", {3})
        "; `--delimiter ';'` (`dataset.delimiter`) would make it 3"
        >>> advice('"Beatles, The",r,b', ",", {3})
        '; quotes are not understood, they are part of names'
        >>> advice("a,r,b,0.5", ",", {3})
        '; `--weights` (`dataset.weights=true`) takes the fourth for a weight'
    """
    told, other = "", _other(line, delimiter, wanted)
    if other:
        typed = _TYPED.get(other, f"'{other}'")
        told = f"; `--delimiter {typed}` (`dataset.delimiter`) would make it {line.count(other) + 1}"
    *triple, last = line.split(delimiter)
    if wanted == {3} and len(triple) == 3 and _NUMBER.fullmatch(last):
        told += "; `--weights` (`dataset.weights=true`) takes the fourth for a weight"
    if re.search(rf'(^|{re.escape(other or delimiter)})"', line):
        told += "; quotes are not understood, they are part of names"
    return told


def _other(line: str, delimiter: str, wanted: Collection[int]) -> str:
    """A usual separator that makes as many fields as are wanted, or else 3 or 4; empty: none does."""
    if delimiter in line:
        return ""
    for numbers in (wanted, {3, 4}):
        for each in _USUAL:
            if line.count(each) + 1 in numbers and each != delimiter:
                return each
    return ""
