"""`python -m mohone.export JOB OUT`: the entity vectors of a job that has ended, with their names."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from mohone.core.command_line import Parser
from mohone.core.errors import DataError
from mohone.core.terminal import exit_code, prepare_terminal
from mohone.core.words import counted
from mohone.opened.job_arguments import add_job_options, check_job, open_given

_KINDS = ("model", "baseline", "network")


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if nothing was written."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.export", description=__doc__)
    parser.add_argument("job", type=Path, metavar="JOB", help="its folder")
    parser.add_argument("out", type=Path, metavar="OUT", help="OUT.npz, OUT.safetensors or OUT.txt")
    parser.add_argument(
        "--of",
        choices=_KINDS,
        default="model",
        help="the model, infused if the job was to (default); the baseline; or the network embedding",
    )
    add_job_options(parser)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return exit_code(lambda: _export(given))


def _export(given: argparse.Namespace) -> None:
    check_job(given.job, given)
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.core.named_vectors import check_format, write_vectors

    out, kind = given.out, given.of
    check_format(out)
    job = open_given(given.job, given)
    if kind == "network":
        if not job.has_network:
            raise DataError(f"{given.job} must be a job with a network embedding, but has none.")
        vectors = job.network_vectors
    else:
        vectors = (job.model if kind == "model" else job.baseline).entity_vectors
    write_vectors(out, job.kg.entities.names, vectors.cpu())
    print(f"{out}: {counted(len(vectors), 'vector')} of {counted(vectors.shape[1], 'number')}")


if __name__ == "__main__":
    sys.exit(main())
