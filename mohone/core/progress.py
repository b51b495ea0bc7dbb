"""Progress bars: one switch for all of them, and none but in a terminal or a notebook."""

from __future__ import annotations

import sys
from typing import Any

from tqdm.auto import tqdm

_wanted = True


def want_progress(wanted: bool) -> None:
    """Switch progress bars on or off for this process."""
    global _wanted
    _wanted = wanted


def progress_shown() -> bool:
    """Are bars wanted, and is there a terminal, or a notebook?"""
    return _wanted and (sys.stderr.isatty() or "ipykernel" in sys.modules)


def progress_bar(description: str | None, total: int | None, **arguments: Any) -> tqdm[Any]:
    """A bar of tqdm's, silent where none is shown or it has nothing to say."""
    silent = description is None or not progress_shown()
    return tqdm(desc=description, total=total, disable=silent, **arguments)
