"""Results of jobs: bytes and values that are others, for tables, pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohone.evaluation.settings import SETTINGS
from mohone.opened.extras import extras_of
from mohone.report import FORMS, Request
from mohone.reporting.infusions import chosen
from mohone.reporting.page.render import page_of
from mohone.reporting.results import RANKS, RESULT, read_finished, read_ranks, read_result, read_results
from tests.helpers.fuzz import changed, mutated, outcome, tries


@pytest.fixture
def folder(job: Path, tmp_path: Path) -> Path:
    """A copy of the job's folder, whose result is then damaged."""
    return Path(shutil.copytree(job, tmp_path / "sweep/0"))


def tell(folder: Path) -> None:
    """What is told of results of other jobs: tables and a page."""
    results = read_results([folder.parent])
    asked = Request(results, "filtered", against_paper=True)
    for form in FORMS.values():
        outcome(lambda form=form: form.write(asked))  # There may be none of its kind.
    if results:
        page_of(results, "page", extras_of(results, 0))
    outcome(lambda: read_finished(folder), folder)


def damaged(sound: bytes) -> st.SearchStrategy[bytes]:
    """A result with other bytes, or with other values."""
    values = changed(json.loads(sound)).map(lambda value: json.dumps(value).encode())
    return mutated(sound) | values | values


@tries(20, cost=10)
@given(draw=st.data())
def test_tables_and_pages(job: Path, folder: Path, draw: st.DataObject) -> None:
    (folder / RESULT).write_bytes(draw.draw(damaged((job / RESULT).read_bytes())))
    tell(folder)


@tries(20)
@given(draw=st.data())
def test_whether_it_is_a_result(job: Path, tmp_path: Path, draw: st.DataObject) -> None:
    sound = (job / RESULT).read_bytes()
    (tmp_path / RESULT).write_bytes(draw.draw(damaged(sound)))
    result = read_result(tmp_path / RESULT)
    if result is not None and result["status"] == "ok":
        assert isinstance(chosen(result), str)
        assert all(0 <= abs(result["baseline"][setting]["mrr"]) < 1e15 for setting in SETTINGS)


@tries(20)
@given(draw=st.data())
def test_ranks(job: Path, folder: Path, draw: st.DataObject) -> None:
    (folder / RANKS).write_bytes(draw.draw(mutated((job / RANKS).read_bytes())))
    ranks = read_ranks(folder, "infused", "filtered")
    if ranks is not None:
        assert np.array_equal(ranks, read_ranks(job, "infused", "filtered"))
