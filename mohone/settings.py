"""`python -m mohone.settings [GROUP=CHOICE KEY=VALUE ...]`: a job's settings, and the file that set each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mohone.configuration.origins import settings_of
from mohone.core.command_line import Parser
from mohone.core.errors import MohoneError
from mohone.core.files import check_folder
from mohone.core.terminal import prepare_terminal, typed

_WIDTH = 24  # Of values; longer ones are as long as they are.


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is no such job."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.settings", description=__doc__)
    parser.add_argument("settings", nargs="*", help="as of `mohone.run`: recipe=strong training.lr=0.1")
    parser.add_argument("--config-dir", type=Path, help="a folder of configuration files of your own")
    given = parser.parse_intermixed_args(arguments)
    try:
        check_folder("--config-dir", given.config_dir)
        found = settings_of(given.settings, given.config_dir)
    except MohoneError as error:
        print(error, file=sys.stderr)
        return 1
    columns = [(each.key, _shown(each.value)) for each in found]
    keys = max(len(key) for key, _ in columns)
    for (key, value), each in zip(columns, found, strict=True):
        print(f"{key:{keys}}  {value:{_WIDTH}}  {each.origin}")
    return 0


def _shown(value: Any) -> str:
    """A value as one types it."""
    value = typed(value) if isinstance(value, str) else value
    if isinstance(value, str) and value and value.isprintable():
        return value
    return json.dumps(value, ensure_ascii=False, default=repr)  # YAML has bytes, too.


if __name__ == "__main__":
    sys.exit(main())
