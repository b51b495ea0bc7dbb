"""The terminal of a command: it shows any name, may be given any, and may leave before the command ends."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable
from typing import Any

from mohone.core.errors import MohoneError, told_by_system

_ESCAPING = "mohone.escaping"


def prepare_terminal() -> None:
    """Escape what the terminal has no sign for, and let its reader leave: `| head -3` ends no job.

    To be called first by each command.
    """
    codecs.register_error(_ESCAPING, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPING)
    if not isinstance(sys.stdout, _Patient):
        sys.stdout = _Patient(sys.stdout)


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """What is shown for what a stream cannot encode; of a path also UTF-8 that Python did not decode."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = typed(error.object[error.start : error.end])
    if error.encoding == "utf-8":
        return text.encode("utf-8", "backslashreplace"), error.end
    return text.encode("ascii", "backslashreplace").decode(), error.end


def exit_code(work: Callable[[], object]) -> int:
    """Do what a command is for; a fault that its user can mend is told in its sentence.

    Returns:
        0, or 1 for a fault.
    """
    try:
        work()
    except MohoneError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(told_by_system(error) or error, file=sys.stderr)
        return 1
    return 0


def typed(text: str) -> str:
    r"""A name as it was typed, for what is no path: names are UTF-8 whatever the locale is.

    Where the locale is another (`LC_ALL=C` without Python's UTF-8 mode), Python gives commands what it could
    not decode as surrogate escapes: right for paths, but no name that a file in UTF-8 has. To be the `type`
    of each argument that takes a name.

    Example:
        >>> typed("r\udcc5\udcaf"), typed("rů")
        ('rů', 'rů')
    """
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError:  # It is of another encoding, or was not typed.
        return text


def as_path(text: str) -> str:
    """A path that a file in UTF-8 names, in the form in which Python takes it in this locale; see `typed`."""
    try:
        os.fsencode(text)
    except UnicodeError:
        return os.fsdecode(text.encode())
    return text


class _Patient:
    """A stream that says nothing more once its reader has left; in all else as it was."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, if anyone reads."""
        try:
            self._stream.write(text)
        except BrokenPipeError:
            self._leave()
        return len(text)

    def flush(self) -> None:
        """Flush, if anyone reads."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> None:
        """Write what is left, and what comes, to nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
