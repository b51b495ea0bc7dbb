"""A search: trials on validation that go on after a kill, and a recipe of the best for the next job."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from mohone.sweeps.found import RECIPE
from mohone.sweeps.search import STUDY, Jobs
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


def test_what_was_found_is_for_its_model_alone(searched: Path) -> None:
    typed = [*OWN[:2], *TINY[:3], "netemb=none", "infusion=none", "training.dropout=0"]
    own, other, coarser = (
        mohone(searched, "--config-dir", FOUND, "recipe=found", *typed, *more, f"hydra.run.dir=for{i}")
        for i, more in enumerate(([], ["kge_model=distmult"], ["kge_model=transe", "training=k_vs_all"]))
    )
    for ran in (own, other, coarser):
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "tuned" not in ran.stdout
    jobs = [results(searched / f"for{i}")[0] for i in range(3)]
    assert [job["config"]["kge_model"]["_target_"].rpartition(".")[2] for job in jobs] == [
        *("ComplEx", "DistMult", "TransE")
    ]
    assert len({job["stages"]["baseline"]["key"] for job in jobs}) == 3
    best = max(results(searched / FOUND), key=lambda job: job["valid_mrr"])["config"]["training"]
    assert jobs[0]["config"]["training"]["optimizer"] == best["optimizer"]
    assert jobs[1]["config"]["training"]["optimizer"] != best["optimizer"]


def test_the_command_has_what_else_was_typed(tmp_path: Path) -> None:
    write_folder(tmp_path / "D", SPLITS)
    more = ["seed=3", "store_dir=other", "infusion=evidence_frequency", "hydra.sweep.dir=S", "training.n3=0"]
    ran = mohone(tmp_path, *SEARCH[:-1], *more, "hydra.sweeper.n_trials=1")
    assert (ran.returncode, ran.stderr) == (0, "")
    (line,) = (line for line in ran.stdout.splitlines() if line.startswith("A job with it: "))
    words = shlex.split(line.partition("-m mohone.run ")[2])
    assert words[:3] == ["--config-dir", "S", "recipe=found"]
    assert sorted(words[3:]) == sorted([*OWN[:2], *more[:3]])
    assert mohone(tmp_path, *words, "hydra.run.dir=job").returncode == 0
    (job,), (first,) = results(tmp_path / "job"), results(tmp_path / "S")
    assert job["valid_mrr"] == first["valid_mrr"]
    assert set(job["reused"]) == {"baseline", "infusion"}


def test_a_folder_of_another_search_is_refused_even_in_parts(searched: Path, tmp_path: Path) -> None:
    found, _ = again(searched, tmp_path)
    write_folder(tmp_path / "D", {**SPLITS, "train": SPLITS["train"][3:]})
    ran = mohone(tmp_path, *SEARCH)
    assert ran.returncode == 1
    assert f"if {found} holds another search, name a folder by `hydra.sweep.dir=FOLDER`." in ran.stderr
    shutil.rmtree(found / "0")
    before = trials(tmp_path)
    ran = mohone(tmp_path, *SEARCH)
    assert ran.returncode == 1
    assert "must hold a search of the same data, settings, keys and values, but holds another" in ran.stderr
    assert trials(tmp_path) == before


def test_two_of_the_same_search_wait_for_each_other(searched: Path, tmp_path: Path) -> None:
    write_folder(tmp_path / "D", SPLITS)
    store = f"store_dir={searched}/outputs/store"
    command = [sys.executable, "-m", "mohone.run", *SEARCH, store]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, cwd=tmp_path, **pipes) for _ in range(2)]
    for each in both:
        out, err = each.communicate(timeout=120)
        assert (each.returncode, err) == (0, ""), out
    assert trials(tmp_path) == trials(searched)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("training.lrr=interval(1,2)", "`training.lrr` must be one of lr,"),
        ("training.lr=choice(0.1,abc)", "`training.lr` must be a number"),
        ("training.lr=interval(-1,1)", "`training.lr` must be > 0, but is -1"),
        ("training.batch_size=interval(100,200.5)", "must be an integer >= 1, but is 200.5"),
        ("evaluation.must_reach=[[1,0.9]]", "`evaluation.must_reach` must be left out of a search"),
    ],
)
def test_what_cannot_be_searched_is_refused_before_any_job(tmp_path: Path, typed: str, said: str) -> None:
    write_folder(tmp_path / "D", SPLITS)
    ran = mohone(tmp_path, *SEARCH[:-1], typed)
    assert ran.returncode == 1
    assert said in ran.stderr
    assert not list((tmp_path / "outputs").rglob("result.json"))


def test_no_job_lies_outside_what_was_typed(tmp_path: Path) -> None:
    write_folder(tmp_path / "D", SPLITS)
    typed = [
        "training.lr=interval(0.4,0.5)",
        "training.batch_size=choice(2,4)",
        "training.max_epochs=interval(2,4)",
    ]
    ran = mohone(tmp_path, *SEARCH[:4], "training.validate_every=1", "hydra.sweeper.n_trials=6", *typed)
    assert (ran.returncode, ran.stderr) == (0, "")
    jobs = results(tmp_path / FOUND)
    fits = [job["config"]["training"]["fit"] for job in jobs]
    rates = [job["config"]["training"]["optimizer"]["lr"] for job in jobs]
    assert len(rates) == 6
    assert rates[0] == 0.4
    assert all(0.4 <= rate <= 0.5 for rate in rates)
    assert {fit["batch_size"] for fit in fits} <= {2, 4}
    assert {fit["max_epochs"] for fit in fits} <= {2, 3, 4}


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
