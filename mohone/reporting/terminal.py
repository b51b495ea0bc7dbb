"""Text on the terminal, whatever it can show and however soon its reader leaves."""

from __future__ import annotations

import io
import os
import sys


def show(text: str) -> None:
    """Print a text as it is: what the terminal has no sign for is escaped, and `| head` is no error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Else Python complains as it ends.
