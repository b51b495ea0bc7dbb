"""What a page shows of finished jobs beyond their results: read from their stages, never trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mohone.core.config import Plain
from mohone.core.errors import MohoneError
from mohone.opened.command import command_of
from mohone.opened.curves import curves_of
from mohone.reporting.datasets import Results
from mohone.reporting.page.extras import Extras

_MOST_CHANGES = 8


def extras_of(results: Results, n_opened: int) -> dict[Path, Extras]:
    """By folder, of all jobs that ended well; wins and losses of the first ones.

    Args:
        results: as they are read.
        n_opened: of how many jobs wins and losses are named, which takes seconds each.
    """
    well = [(path.parent, result) for path, result in results if result["status"] == "ok"]
    out: dict[Path, Extras] = {}
    n = 0
    for folder, result in well:
        extras = _extras(folder, result, n < n_opened)
        n += not extras.left_out
        out[folder] = extras
    return out


def _extras(folder: Path, result: Plain, opened: bool) -> Extras:
    command, lacks = command_of(result)
    extras = Extras(command, lacks, curves_of(result))
    if not opened:
        left_out = "Left out, since the page has those of enough other jobs: `--open N` asks for more."
        return replace(extras, left_out=left_out)
    if not (result.get("config") or {}).get("store_dir"):
        left_out = "Left out: they want the job's own folder, but this is a copy of its result alone."
        return replace(extras, left_out=left_out)
    from mohone.opened.changes import changes_of  # Torch takes seconds, which copies need not.

    try:
        wins, losses = changes_of(folder, _MOST_CHANGES)
    except (MohoneError, OSError) as error:
        return replace(extras, left_out=f"Left out: {error}")
    return replace(extras, wins=wins, losses=losses)
