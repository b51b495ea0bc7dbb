"""`python -m mohone.export JOB OUT`: the vectors of a job that has ended, with their names."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mohone.core.command_line import Parser
from mohone.core.errors import ConfigError, DataError
from mohone.core.terminal import exit_code, prepare_terminal
from mohone.core.words import counted
from mohone.opened.job_arguments import add_job_options, check_job, open_given

if TYPE_CHECKING:
    from torch import Tensor

    from mohone.experiment.trained import TrainedJob

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
    parser.add_argument(
        "--relations",
        type=Path,
        metavar="FILE",
        help="write those of relations, too: with all tables of the model, as mohone.infuse reads them",
    )
    add_job_options(parser)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return exit_code(lambda: _export(given))


def _export(given: argparse.Namespace) -> None:
    check_job(given.job, given)
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.core.named_vectors import check_format, write_vectors

    for file in filter(None, (given.out, given.relations)):
        check_format(file)
    job = open_given(given.job, given)
    if given.relations is not None:
        _export_model(given, job)
        return
    vectors = _vectors(given.job, job, given.of)
    write_vectors(given.out, job.kg.entities.names, vectors.cpu())
    print(f"{given.out}: {counted(len(vectors), 'vector')} of {counted(vectors.shape[1], 'number')}")


def _vectors(folder: Path, job: TrainedJob, kind: str) -> Tensor:
    """Those of the model, of the baseline or of the network."""
    if kind != "network":
        return (job.model if kind == "model" else job.baseline).entity_vectors
    if not job.has_network:
        raise DataError(f"{folder} must be a job with a network embedding, but has none.")
    return job.network_vectors


def _export_model(given: argparse.Namespace, job: TrainedJob) -> None:
    """Entities and relations, each in a file."""
    from mohone.elsewhere.flat import write_model
    from mohone.kge import Wrapped

    if given.of == "network":
        raise ConfigError("`--of` must be model or baseline with `--relations`, but is network.")
    model = job.model if given.of == "model" else job.baseline
    if isinstance(model, Wrapped):
        raise DataError(
            f"{given.job} must be a model of vectors alone, but its infusion knows more: `--of baseline` "
            "writes what it was infused into."
        )
    write_model(model, job.kg, given.out, given.relations)
    print(f"{given.out}, {given.relations}: the model's tables, as `mohone.infuse` reads them")


if __name__ == "__main__":
    sys.exit(main())
