"""A job's folder that is opened: the very job, or one sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohone.opened.finished import FinishedJob, open_job
from mohone.reporting.results import RESULT
from tests.helpers.fuzz import Refused, changed, mutated, outcome, tries


@pytest.fixture
def folder(job: Path, tmp_path: Path) -> Path:
    """A copy of the job's folder, whose files are then damaged; the store stays."""
    return Path(shutil.copytree(job, tmp_path / "job"))


@pytest.fixture(scope="module")
def sound(job: Path) -> FinishedJob:
    return open_job(job)


def assert_same_or_refused(folder: Path, sound: FinishedJob) -> None:
    """The same numbers, whatever else its files say."""

    def opened() -> Any:
        job = open_job(folder, train=False)
        return job.model.state_dict()

    tables = outcome(opened)
    if not isinstance(tables, Refused):
        assert all(torch.equal(table, tables[name]) for name, table in sound.model.state_dict().items())


@tries(15, cost=10)
@given(draw=st.data())
def test_configurations_in_results(folder: Path, sound: FinishedJob, draw: st.DataObject) -> None:
    result = json.loads((folder / RESULT).read_text())
    config = draw.draw(changed(result["config"]))
    (folder / RESULT).write_text(json.dumps({**result, "config": config}))
    assert_same_or_refused(folder, sound)
    (folder / RESULT).write_text(json.dumps(result))


@tries(10, cost=10)
@given(draw=st.data())
def test_other_files_of_a_folder_matter_to_nothing(
    folder: Path, sound: FinishedJob, draw: st.DataObject
) -> None:
    name = draw.draw(st.sampled_from(["config.yaml", "run.log", "curves/baseline/metrics.csv"]))
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(draw.draw(mutated(content)))
    job = open_job(folder, train=False)
    assert torch.equal(job.model.entity_vectors, sound.model.entity_vectors)
    (folder / name).write_bytes(content)
