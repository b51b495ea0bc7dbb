"""Which trials of a search are given up, by a loop over all courses, and what then becomes of the search."""

from __future__ import annotations

import random
import statistics
from pathlib import Path

import pytest

from mohone.sweeps.journal import open_study
from mohone.sweeps.pruning import medians
from mohone.sweeps.search import STUDY, Jobs
from tests.helpers.commands import mohone, results
from tests.helpers.graphs import write_folder
from tests.sweeps.test_search import FOUND, SEARCH, SPLITS


def slow(courses: list[dict[int, float]]) -> list[list[float]]:
    epochs = sorted({epoch for course in courses for epoch in course})
    out = []
    for epoch in epochs[1:]:
        bests = []
        for course in courses:
            best = 0.0
            for at in sorted(course):
                if at <= epoch and course[at] > best:
                    best = course[at]
            bests.append(best)
        out.append([epoch, statistics.median(bests)])
    return out


def test_the_median_of_the_best_until_each_epoch() -> None:
    lot = random.Random(0)
    for n in (5, 6, 9):
        courses = [{epoch: lot.random() for epoch in range(2, lot.randint(3, 12), 2)} for _ in range(n)]
        assert medians(courses) == slow(courses)
        assert medians([*courses, {}]) == slow(courses)  # One of whose course nothing is known.


def test_few_courses_judge_nobody() -> None:
    assert medians([{1: 0.5, 2: 0.6}] * 4) == []
    assert medians([{1: 0.5}] * 5) == []
    assert medians([]) == []


PRUNED = [*SEARCH[:-1], "hydra.sweeper.n_trials=9", "training.max_epochs=6"]


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search of which some trials were given up."""
    folder = tmp_path_factory.mktemp("pruned")
    write_folder(folder / "D", SPLITS)
    ran = mohone(folder, *PRUNED)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ", given up after epoch 2, best " in ran.stdout
    return folder


def test_what_lags_behind_is_given_up(pruned: Path) -> None:
    study = open_study(pruned / FOUND / STUDY, 4)
    jobs = results(pruned / FOUND)
    states = [trial.state.name for trial in study.trials]
    assert states[:5] == ["COMPLETE"] * 5
    assert {"COMPLETE", "PRUNED"} == set(states[5:])
    for trial, job in zip(study.trials, jobs, strict=True):
        ended = [each for each in study.trials[: trial.number] if each.state.name == "COMPLETE"]
        asked = medians([each.intermediate_values for each in ended])
        assert (job["config"]["evaluation"]["must_reach"] or []) == asked
        if trial.state.name == "PRUNED":
            assert job["status"] == "stopped"
            assert trial.intermediate_values == {job["reached"]["epoch"]: job["reached"]["valid_mrr"]}
            assert job["reached"]["valid_mrr"] < dict(map(tuple, asked))[job["reached"]["epoch"]]
        else:
            assert trial.value == job["valid_mrr"]
            assert max(trial.intermediate_values.values()) == trial.value
    assert study.best_value == max(job["valid_mrr"] for job in jobs if job["status"] == "ok")


def test_a_search_with_trials_that_were_given_up_comes_to_what_it_would_have(
    pruned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "D", SPLITS)
    run = Jobs.run

    def killed(jobs: Jobs, first: int, each: list[list[str]]) -> list[float]:
        values = run(jobs, first, each)
        if first == 6:
            raise KeyboardInterrupt
        return values

    monkeypatch.setattr(Jobs, "run", killed)
    assert mohone(tmp_path, *PRUNED).returncode == 130
    monkeypatch.setattr(Jobs, "run", run)
    assert mohone(tmp_path, *PRUNED).returncode == 0
    journals = [open_study(folder / FOUND / STUDY, 4).trials for folder in (pruned, tmp_path)]
    ours, theirs = (
        [(trial.state, trial.params, trial.intermediate_values, trial.user_attrs) for trial in trials]
        for trials in journals
    )
    assert ours == theirs


def test_no_trial_is_given_up_where_that_is_not_wanted(pruned: Path, tmp_path: Path) -> None:
    write_folder(tmp_path / "D", SPLITS)
    store = f"store_dir={pruned}/outputs/store"
    ran = mohone(tmp_path, *PRUNED, store, "hydra.sweeper.prune=false")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "given up" not in ran.stdout
    assert {job["status"] for job in results(tmp_path / FOUND)} == {"ok"}
    refused = mohone(tmp_path, *PRUNED, store, "hydra.sweeper.prune=often")
    assert refused.returncode == 1
    assert refused.stderr == "`hydra.sweeper.prune` must be true or false, but is 'often'.\n"
