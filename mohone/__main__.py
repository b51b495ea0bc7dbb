"""`python -m mohone`: which commands there are."""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

from mohone.core.command_line import Parser
from mohone.core.terminal import prepare_terminal

COMMANDS = (
    "run",
    "plan",
    "settings",
    "split",
    "infuse",
    "network",
    "predict",
    "neighbors",
    "classify",
    "export",
    "report",
    "figure",
    "show",
)


def _summary(command: str) -> str:
    """What a command is called by and does: the first line of its file."""
    source = (Path(__file__).parent / f"{command}.py").read_text(encoding="utf-8")
    first = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
    called, _, does = first.removeprefix("`").partition("`: ")
    return f"  {called}\n      {does}"


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code."""
    prepare_terminal()
    parser = Parser(
        prog="python -m mohone",
        description=f"{sys.modules['mohone'].__doc__} Its commands:\n\n" + "\n".join(map(_summary, COMMANDS)),
        epilog="Each says more with `--help`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        completes=False,
    )
    parser.parse_args(arguments)
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
