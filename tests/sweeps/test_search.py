"""A search: trials on validation that go on after a kill, and a recipe of the best for the next job."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from mohone.core.errors import ConfigError
from mohone.sweeps.journal import open_study
from mohone.sweeps.pruning import medians
from mohone.sweeps.search import RECIPE, STUDY, Jobs, space_of
from tests.helpers.commands import TINY, mohone, results
from tests.helpers.graphs import write_folder

optuna = pytest.importorskip("optuna")
SPLITS = {
    "train": [f"{i} {r} {(i * 3 + r) % 11}" for i in range(11) for r in (1, 2, 4)],
    "valid": [f"{i} 5 {(i * 3 + 5) % 11}" for i in range(5)],
    "test": [f"{i} 5 {(i * 3 + 5) % 11}" for i in range(5, 9)],
}
OWN = ["dataset=folder", "dataset.path=D", "kge_model=complex"]
SHORT = [each for each in TINY if each.startswith(("dim", "training"))]
SEARCH = ["experiment=search", *OWN, *SHORT, "hydra.sweeper.n_trials=3"]
FOUND = "outputs/search/folder-complex"


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search")
    write_folder(folder / "D", SPLITS)
    ran = mohone(folder, *SEARCH)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "search: 3 of 3 trials, trial 2: " in ran.stdout
    return folder


def trials(folder: Path) -> list[tuple[dict[str, Any], float | None]]:
    backend = optuna.storages.journal.JournalFileBackend(str(folder / FOUND / STUDY))
    study = optuna.load_study(study_name="search", storage=optuna.storages.JournalStorage(backend))
    return [(trial.params, trial.value) for trial in study.trials]


def test_a_search_begins_with_the_settings_there_are(searched: Path) -> None:
    tried = trials(searched)
    assert len(tried) == 3
    jobs = results(searched / FOUND)
    for (params, value), job in zip(tried, jobs, strict=True):
        assert value == job["valid_mrr"]
        assert job["netemb"] == job["infusion"] == "none"
        for key, each in params.items():
            assert OmegaConf.select(OmegaConf.create(job["config"]), key) == each
    assert set(jobs[0]["by_size"]) >= set(tried[0][0]) - {"training.objective.dropout"}
    assert len({json.dumps(params) for params, _ in tried}) == 3


def test_the_best_is_a_recipe_that_trains_nothing_anew(searched: Path) -> None:
    best = max(results(searched / FOUND), key=lambda job: job["valid_mrr"])
    ran = mohone(
        searched, "--config-dir", FOUND, "recipe=found", *OWN[:2], *TINY[2:], "hydra.run.dir=next", "seed=0"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (job,) = results(searched / "next")
    assert job["stages"]["baseline"]["key"] == best["stages"]["baseline"]["key"]
    assert "baseline" in job["reused"]
    assert job["infused"]
    assert f"MRR {best['valid_mrr']:.4f}" in (searched / FOUND / RECIPE).read_text()


def test_a_killed_search_comes_to_what_it_would_have(
    searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "D", SPLITS)
    store = f"store_dir={searched}/outputs/store"  # It trains nothing anew.
    run = Jobs.run

    def killed(after: int, jobs: Jobs, first: int, each: list[list[str]]) -> list[float]:
        values = run(jobs, first, each) if first <= after else []
        if first >= after:
            raise KeyboardInterrupt
        return values

    for last in (1, 2):  # Once when the job has ended and the study does not know, once before it began.
        monkeypatch.setattr(Jobs, "run", lambda *given, last=last: killed(last, *given))
        assert mohone(tmp_path, *SEARCH, store).returncode == 130
        assert not (tmp_path / FOUND / RECIPE).exists()
    monkeypatch.setattr(Jobs, "run", run)
    assert mohone(tmp_path, *SEARCH, store).returncode == 0
    assert trials(tmp_path) == trials(searched)
    found = (tmp_path / FOUND / RECIPE).read_text()
    assert found == (searched / FOUND / RECIPE).read_text()

    more = mohone(tmp_path, *SEARCH, store, "training.n3=0.1")
    assert more.returncode == 1
    assert "must" in more.stderr


def test_what_is_typed_is_kept_or_searched() -> None:
    usual = {"training.optimizer.lr": "interval(0.1,1)", "training.objective.n3": "interval(0.1,1)"}
    fixed, space = space_of(["training.optimizer.lr=0.3", "seed=1", "dim=choice(8,16)"], usual)
    assert fixed == ["training.optimizer.lr=0.3", "seed=1"]
    assert set(space) == {"training.objective.n3", "dim"}
    with pytest.raises(ConfigError, match="`kge_model` must have one value in a search"):
        space_of(["kge_model=transe,complex"], usual)
    with pytest.raises(ConfigError, match="A search must have keys with several values"):
        space_of(["training.optimizer.lr=0.3"], {})
    with pytest.raises(ConfigError, match=r"from a lower to a higher number, but has interval\(5\.0,1\.0\)"):
        space_of(["training.optimizer.lr=interval(5,1)"], {})


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


def again(searched: Path, folder: Path) -> tuple[Path, list[str]]:
    """A copy of what the search left, and the words that go on with it."""
    shutil.copytree(searched / "outputs/search", folder / "outputs/search")
    shutil.copytree(searched / "D", folder / "D")
    words = [*SEARCH, f"store_dir={searched}/outputs/store", f"dataset.path={searched}/D"]
    return folder / FOUND, words


@pytest.mark.parametrize("damage", [b"", b"\x80\xff\x00", b"[1, 2]\n", None])
def test_a_job_needs_no_configuration_file_to_be_gone_on_with(
    searched: Path, tmp_path: Path, damage: bytes | None
) -> None:
    found, words = again(searched, tmp_path)
    for path in found.glob("*/config.yaml"):
        path.unlink()
        if damage is None:
            path.mkdir()
        else:
            path.write_bytes(damage)
    (found / RECIPE).unlink()
    ran = mohone(tmp_path, *words)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (found / RECIPE).read_bytes() == (searched / FOUND / RECIPE).read_bytes()


@pytest.mark.parametrize("name", [STUDY, str(RECIPE), "table.md"])
def test_a_folder_in_the_place_of_a_file_is_named_before_any_job(
    searched: Path, tmp_path: Path, name: str
) -> None:
    found, words = again(searched, tmp_path)
    (found / name).unlink()
    (found / name).mkdir()
    ran = mohone(tmp_path, *words)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"{found / name} must be ")
    assert ran.stderr.endswith(", but is a folder.\n")
    assert "trials" not in ran.stdout


def test_a_damaged_journal_is_one_sentence_and_without_it_the_search_goes_on(
    searched: Path, tmp_path: Path
) -> None:
    found, words = again(searched, tmp_path)
    journal = found / STUDY
    first, *rest = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([first, b"3\n", *rest]))
    ran = mohone(tmp_path, *words)
    assert ran.returncode == 1
    assert ran.stderr == (
        f"{journal} must be the journal of a search, but is damaged (line 2 is no step of a search): "
        "delete it, and the same command goes on with the jobs that have ended.\n"
    )
    journal.unlink()
    assert mohone(tmp_path, *words).returncode == 0
    assert trials(tmp_path) == trials(searched)


def test_the_best_job_without_a_result_is_named(searched: Path, tmp_path: Path) -> None:
    found, words = again(searched, tmp_path)
    values = [value or 0.0 for _, value in trials(tmp_path)]
    best = found / str(values.index(max(values)))
    (best / "result.json").write_text("{}")
    if best.name == "0":
        pytest.skip("the first job is run again")
    ran = mohone(tmp_path, *words)
    assert ran.returncode == 1
    assert ran.stderr.endswith(
        f"{best} must be a job of the search, but: {best}/result.json must be a result of this program, but "
        f"is none. Delete it and {found / STUDY}, and the same command goes on with the other jobs.\n"
    )
    shutil.rmtree(best)
    (found / STUDY).unlink()
    assert mohone(tmp_path, *words).returncode == 0
    assert trials(tmp_path) == trials(searched)
