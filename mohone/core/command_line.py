"""The parser of each command's arguments: what `argparse` does, and what all our commands have in common."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mohone import __version__

SHELLS = ("bash", "zsh", "tcsh", "fish", "powershell")  # Of shtab.


class Parser(argparse.ArgumentParser):
    """A parser whose options are given once, unless they collect values.

    It knows `--version`, and shells can complete what it takes.

    Args:
        *args, **kwargs: of `argparse.ArgumentParser`.
        completes: is it a whole command, which shells can complete?
    """

    def __init__(self, *args: Any, completes: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in (None, "store"):
            self.register("action", name, _Once)
        version = f"mohone {__version__}"
        self.add_argument("--version", action="version", version=version, help="show it and end")
        if completes:
            about = "show a script that completes this command in a shell (extra `completion`), and end"
            nothing = argparse.SUPPRESS  # Else each command would be told that none was asked for.
            self.add_argument(
                "--print-completion", action=_Completion, choices=SHELLS, default=nothing, help=about
            )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As `argparse` does, of options that have not been given."""
        for action in self._actions:
            if isinstance(action, _Counted):
                action.given = False
        return super().parse_known_args(args, namespace)


class _Completion(argparse.Action):
    """The action of an option that prints what completes the command: shtab makes it of the parser."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        try:
            import shtab
        except ImportError:
            need = "pip install -c constraints.txt -e '.[completion]'"
            parser.exit(1, f"`{self.option_strings[0]}` must have the package shtab: {need}\n")
        _complete_paths(parser, shtab.FILE)
        parser.prog = parser.prog.replace("python -m mohone.", "mohone-")  # A shell completes one word.
        print(shtab.complete(parser, str(values)))
        parser.exit(0)


def _complete_paths(parser: argparse.ArgumentParser, file: Any) -> None:
    """Have paths completed, of a parser and of those below it."""
    for action in parser._actions:
        if action.type is Path:
            action.complete = file  # type: ignore[attr-defined]
        for below in action.choices.values() if isinstance(action.choices, dict) else ():
            _complete_paths(below, file)


class _Counted(argparse.Action):
    """An action of an option that refuses to be given again: the last value would win without a word."""

    given = False

    def count(self, parser: argparse.ArgumentParser) -> None:
        """Note that it is given.

        Raises:
            SystemExit: it was before; the parser says so.
        """
        if self.given and self.option_strings:
            names = " and ".join(f"`{each}`" for each in self.option_strings)
            parser.error(f"{names} must be given once, but {'are' if 'and' in names else 'is'} given again.")
        self.given = True


class _Once(_Counted):
    """The usual action: store the value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        self.count(parser)
        setattr(namespace, self.dest, values)


class YesNo(_Counted, argparse.BooleanOptionalAction):
    """The action of an option `--header` that also has `--no-header`."""

    def __call__(  # noqa: D102
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        self.count(parser)
        super().__call__(parser, namespace, values, option_string)
