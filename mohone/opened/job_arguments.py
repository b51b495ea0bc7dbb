"""The options of each command that opens a job which has ended: where its things are now."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mohone.core.files import check_folder
from mohone.reporting.results import read_finished

if TYPE_CHECKING:  # Help and typos need no torch.
    from mohone.opened.finished import FinishedJob


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """The options of a command that opens a job."""
    parser.add_argument("--data", type=Path, metavar="DIR", help="where its data are now, if they were moved")
    parser.add_argument("--store", type=Path, metavar="DIR", help="where its store is now, if it was moved")
    parser.add_argument(
        "--no-train",
        action="store_true",
        help="refuse where the store lacks what the job had trained, rather than train it again",
    )


def check_job(folder: Path, given: argparse.Namespace) -> None:
    """Refuse a folder that is no job's, or data that are not there, before anything is imported.

    A store need not be there: what it lacks is trained again.

    Raises:
        DataError: such a one.
    """
    read_finished(folder)
    check_folder("--data", given.data)


def open_given(folder: Path, given: argparse.Namespace) -> FinishedJob:
    """Open the job of a folder with these options; see `mohone.opened.finished.open_job`."""
    from mohone.opened.finished import open_job  # Torch and Lightning take seconds.

    return open_job(folder, given.data, given.store, not given.no_train)
