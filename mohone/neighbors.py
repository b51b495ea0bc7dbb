"""`python -m mohone.neighbors JOB NAME`: who is nearest before and after the infusion, and in the network."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mohone.core.command_line import Parser
from mohone.core.errors import require_int
from mohone.core.files import check_file
from mohone.core.terminal import exit_code, prepare_terminal, typed
from mohone.opened.job_arguments import add_job_options, check_job, open_given


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is nothing to show."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.neighbors", description=__doc__)
    parser.add_argument("job", type=Path, metavar="JOB", help="the folder of a job that has ended")
    parser.add_argument("name", type=typed, metavar="NAME", help="an entity's name, or its label")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="neighbours; 10 if not given")
    parser.add_argument("--metric", choices=("cosine", "euclidean"), default="cosine")
    parser.add_argument("--labels", type=Path, metavar="FILE", help="readable ones: NAME<TAB>LABEL lines")
    add_job_options(parser)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    return exit_code(lambda: _show(given))


def _show(given: argparse.Namespace) -> None:
    require_int("--top", given.top, 1)
    check_file("--labels", given.labels)
    check_job(given.job, given)
    for row in _rows(given):
        print("\t".join(row))


def _rows(given: argparse.Namespace) -> list[Sequence[str]]:
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.data.labels import find_name, read_labels
    from mohone.opened.neighborhoods import neighborhoods, spaces_of

    labels = read_labels(given.labels)
    job = open_given(given.job, given)
    entity = find_name("NAME", given.name, job.kg.entities, labels)
    found = neighborhoods(spaces_of(job), entity, given.top, given.metric)
    most = max(len(near.rows) for near in found.values())
    columns = []
    for kind, near in found.items():
        names = [_shown(job.kg.entities.names[i], labels) for i in near.rows.tolist()]
        blank = [""] * (most - len(names))
        columns.append([kind, *names, *blank])
        columns.append([given.metric, *(f"{x:.3f}" for x in near.closeness.tolist()), *blank])
    return [row for row in zip(*columns, strict=True) if any(row)]


def _shown(name: str, labels: Mapping[str, str]) -> str:
    return f"{name} ({labels[name]})" if name in labels else name


if __name__ == "__main__":
    sys.exit(main())
