"""A small job, made once for all that is damaged of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.commands import TINY, mohone
from tests.helpers.graphs import BASE, write_folder


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that has ended, with its store beside it."""
    folder = tmp_path_factory.mktemp("ended")
    write_folder(folder / "data", BASE)
    own = ["dataset=folder", "dataset.path=data", "store_dir=store", "hydra.run.dir=job"]
    ran = mohone(folder, "kge_model=transe", *own, *TINY, "infusion.neighbors=1")
    assert ran.returncode == 0, ran.stderr
    return folder / "job"
