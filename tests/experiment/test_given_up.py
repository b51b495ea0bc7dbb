"""Training that has not reached what it must is given up: at once, after a kill, and in the store alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from mohone.core.errors import ConfigError, GivenUpError
from mohone.data import KnowledgeGraph
from mohone.experiment.stages.runner import Runner
from mohone.experiment.validation import Validation
from mohone.opened.curves import curves_of
from mohone.reporting.groups import group_results
from mohone.reporting.jobs import jobs_table
from mohone.reporting.results import read_results
from mohone.training.given_up import check_course
from mohone.training.settings import VALID_MRR
from tests.experiment.test_validation import a_runner
from tests.helpers.commands import TINY, mohone, results

LONG = ("training.max_epochs=6", "training.validate_every=2", "training.patience=9")


def reached(runner: Runner) -> dict[int, float]:
    """The best validation MRR until each epoch that was validated."""
    out: dict[int, float] = {}
    for each in runner.run(runner.baseline).notes["history"]:
        if each["valid_mrr"] is not None:
            out[each["epoch"]] = max([each["valid_mrr"], *out.values()])
    return out


def given_up(runner: Runner) -> tuple[int, float]:
    with pytest.raises(GivenUpError) as raised:
        runner.run(runner.baseline)
    return raised.value.epoch, raised.value.valid_mrr


def bars(*pairs: tuple[int, float]) -> str:
    return f"evaluation.must_reach=[{','.join(f'[{epoch},{mrr!r}]' for epoch, mrr in pairs)}]"


@pytest.fixture(scope="module")
def trained(umls: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, float]]:
    """A store with a training that was not given up, and what it had reached."""
    store = tmp_path_factory.mktemp("trained")
    return store, reached(a_runner(umls, store, *LONG))


def test_what_has_reached_it_is_the_same_stage(
    umls: KnowledgeGraph, tmp_path: Path, trained: tuple[Path, dict[int, float]]
) -> None:
    store, best = trained
    assert list(best) == [2, 4, 6]
    asked = bars(*best.items())
    assert reached(a_runner(umls, tmp_path, *LONG, asked)) == best
    again = a_runner(umls, store, *LONG, asked)
    assert again.run(again.baseline).reused


@pytest.mark.parametrize("at", [2, 4])
def test_what_has_not_is_given_up_at_once_in_parts_and_in_the_store(
    umls: KnowledgeGraph, tmp_path: Path, trained: tuple[Path, dict[int, float]], at: int
) -> None:
    store, best = trained
    asked = bars((at, best[at] + 1e-6))
    fresh = a_runner(umls, tmp_path / "fresh", *LONG, asked)
    assert given_up(fresh) == (at, best[at])
    assert not (tmp_path / "fresh" / "baseline" / fresh.keys["baseline"]).exists()
    assert given_up(fresh) == (at, best[at])  # It goes on where it was, and is there again.
    assert given_up(a_runner(umls, store, *LONG, asked)) == (at, best[at])
    assert reached(a_runner(umls, tmp_path / "fresh", *LONG)) == best  # Nothing that was trained is lost.


def test_its_end_is_not_given_up(
    umls: KnowledgeGraph, tmp_path: Path, trained: tuple[Path, dict[int, float]]
) -> None:
    store, best = trained
    for place in (store, tmp_path):
        assert reached(a_runner(umls, place, *LONG, bars((6, 1.0)))) == best


def test_a_course_is_judged_by_its_best_and_the_last_bar() -> None:
    history = [{"epoch": e, "valid_mrr": mrr} for e, mrr in enumerate((None, 0.3, None, 0.2, 0.1), start=1)]
    check_course(history, [(2, 0.3), (5, 0.9)], 5)
    check_course(history, [], 9)
    for least, epoch in (([(5, 0.4)], 5), ([(1, 0.4)], 2), ([(1, 0.1), (3, 0.4)], 4)):
        with pytest.raises(GivenUpError) as raised:
            check_course(history, least, 6)
        assert (raised.value.epoch, raised.value.valid_mrr) == (epoch, 0.3)


def test_a_job_that_is_given_up_says_so_and_is_no_failure(tmp_path: Path) -> None:
    words = [*TINY[:3], *LONG, "netemb=none", "infusion=none", bars((2, 1.0))]
    ran = mohone(tmp_path, *words, "hydra.run.dir=job")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (
        "The validation MRR must be 1.0000 after epoch 2 (`evaluation.must_reach`), but is 0." in ran.stdout
    )
    (job,) = results(tmp_path / "job")
    assert job["status"] == "stopped"
    assert job["reached"]["epoch"] == 2
    assert curves_of(job) == {}
    found = read_results([tmp_path / "job"])
    assert f"| {job['reached']['valid_mrr']:.4f} | stopped " in jobs_table(found)
    (group,) = group_results(found)
    assert not any(cell.failed for cell in group.cells.values())
    for module in ("mohone.report", "mohone.predict"):
        more = ["--head", "a"] if module == "mohone.predict" else []
        told = mohone(tmp_path, "job", *more, module=module)
        assert "Traceback" not in told.stdout + told.stderr
    ended = mohone(tmp_path, *words[:-1], "hydra.run.dir=job")  # The same without goes on.
    assert ended.returncode == 0
    (job,) = results(tmp_path / "job")
    assert job["status"] == "ok"
    assert len([step for step in curves_of(job)["baseline"] if step[VALID_MRR] is not None]) == 3


@pytest.mark.parametrize(
    "value", [3, "often", [3], [[1]], [[0, 0.1]], [["a", 0.1]], [[1, -0.1]], [[1, None]]]
)
def test_what_is_no_list_of_epochs_and_figures_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"`evaluation\.must_reach` must be "):
        Validation.from_config({"must_reach": value})
