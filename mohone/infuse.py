"""`python -m mohone.infuse MODEL --out OUT`: infuse what another tool trained, and write it as it came."""

from __future__ import annotations

import argparse
import datetime
import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mohone.core.command_line import Parser
from mohone.core.files import check_there
from mohone.core.terminal import exit_code, prepare_terminal

_SETTINGS = "like dataset=folder dataset.path=DIR netemb=struct infusion.beta=0.2; kge_model=NAME for files"


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if nothing was infused."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.infuse", description=__doc__)
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="a folder that PyKEEN wrote, or a file of entity vectors"
    )
    parser.add_argument(
        "--relations", type=Path, metavar="FILE", help="of relation vectors, beside such a file"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="OUT", help="file or folder, not there yet"
    )
    parser.add_argument(
        "--job", type=Path, metavar="FOLDER", help="of the job; outputs/runs/... if not given"
    )
    parser.add_argument("settings", nargs="*", help=_SETTINGS)
    given = parser.parse_intermixed_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        return exit_code(lambda: print(_infuse(given)))
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on.", file=sys.stderr)
        return 130


def _infuse(given: argparse.Namespace) -> str:
    """Run the job, write its outcome; returns what to say in the end."""
    for path in (given.model, given.relations):
        check_there(path, "a folder of PyKEEN's or a file of vectors")
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.configuration.compose import absolute_paths, as_trained
    from mohone.experiment.job import run_job
    from mohone.opened.given_job import (
        check_out,
        compose_given,
        infuse_vectors,
        open_given,
        write_infused,
    )

    source = open_given(given.model, given.relations)
    check_out(source, given.out)
    config = compose_given(source, given.relations, given.settings)
    config = as_trained(absolute_paths(config, Path.cwd()))
    if source.unknown is not None:
        return infuse_vectors(source, config, given.out)
    folder = given.job or Path(f"outputs/runs/{datetime.datetime.now():%Y-%m-%d/%H-%M-%S-%f}")
    run_job(config, folder)
    return write_infused(folder, given.out)


class _Verb(ModuleType):
    """The command's module may be called: importing it puts it in the place of the verb `mohone.infuse`."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """See `mohone.api.work.infuse`."""
        from mohone.api.work import infuse

        return infuse(*arguments, **settings)


sys.modules[__name__].__class__ = _Verb

if __name__ == "__main__":
    sys.exit(main())
