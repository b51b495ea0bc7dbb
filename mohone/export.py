"""`python -m mohone.export JOB OUT`: the entity vectors of a job that has ended, with their names."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from mohone.core.errors import DataError, MohoneError
from mohone.core.terminal import prepare_terminal

_KINDS = ("model", "baseline", "network")


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if nothing was written."""
    prepare_terminal()
    parser = argparse.ArgumentParser(prog="python -m mohone.export", description=__doc__)
    parser.add_argument("job", type=Path, metavar="JOB", help="its folder")
    parser.add_argument("out", type=Path, metavar="OUT", help="OUT.npz, OUT.safetensors or OUT.txt")
    parser.add_argument(
        "--of",
        choices=_KINDS,
        default="model",
        help="the model, infused if the job was to (default); the baseline; or the network embedding",
    )
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        _export(given.job, given.out, given.of)
    except (MohoneError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _export(folder: Path, out: Path, kind: str) -> None:
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.core.named_vectors import check_format, write_vectors
    from mohone.experiment.finished import open_job

    check_format(out)
    job = open_job(folder)
    if kind == "network":
        if not job.has_network:
            raise DataError(f"{folder} must be a job with a network embedding, but has none.")
        vectors = job.network_vectors
    else:
        vectors = (job.model if kind == "model" else job.baseline).entity_vectors
    write_vectors(out, job.kg.entities.names, vectors.cpu())
    print(f"{out}: {len(vectors):,} vectors of {vectors.shape[1]} numbers")


if __name__ == "__main__":
    sys.exit(main())
