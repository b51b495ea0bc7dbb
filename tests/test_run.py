"""The command line as a user types it; those that want a process of their own are in `slow/`."""

import subprocess
from pathlib import Path

import pytest

from tests.helpers.commands import TINY, mohone, results, without_times
from tests.helpers.graphs import BASE, write_folder


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("sweep")
    ran = mohone(folder, "-m", "kge_model=transe,complex", "netemb=shnb,struct", *TINY)
    return folder, ran


def test_a_sweep_trains_each_stage_once_and_ends_with_a_table(
    sweep: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, ran = sweep
    assert ran.returncode == 0, ran.stderr
    jobs = results(folder)
    assert [(job["kge_model"], job["netemb"]) for job in jobs] == [
        ("transe", "shnb"),
        ("transe", "struct"),
        ("complex", "shnb"),
        ("complex", "struct"),
    ]
    assert [job["reused"] for job in jobs] == [[], ["baseline"], ["netemb"], ["netemb", "baseline"]]
    assert jobs[0]["baseline"] == jobs[1]["baseline"]
    (table,) = folder.rglob("table.md")
    assert sum("| umls" in line for line in table.read_text().split("\n")) == 4
    assert table.read_text() in ran.stdout
    report = mohone(folder, "outputs/sweeps", module="mohone.report")
    assert report.stdout == table.read_text()


def test_the_same_command_again_trains_nothing_and_gives_the_same_numbers(
    sweep: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = sweep
    before = results(folder)[0]
    ran = mohone(folder, "kge_model=transe", "netemb=shnb", *TINY, "hydra.run.dir=again")
    assert ran.returncode == 0, ran.stderr
    (after,) = results(folder / "again")
    assert after["reused"] == ["netemb", "baseline", "infusion"]
    assert without_times(after) == without_times(before)


def test_the_same_seed_in_a_fresh_store_gives_the_same_numbers(
    sweep: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    ran = mohone(tmp_path, "kge_model=transe", "netemb=shnb", *TINY)
    assert ran.returncode == 0, ran.stderr
    (fresh,) = results(tmp_path)
    assert fresh["reused"] == []
    assert without_times(fresh) == without_times(results(sweep[0])[0])


def test_result_has_what_the_report_needs(sweep: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    result = results(sweep[0])[0]
    assert result["schema"] == 1
    assert result["status"] == "ok"
    assert result["error"] is None
    assert result["dataset"]["n_train"] == 5216
    for model in ("baseline", "infused"):
        for setting in ("filtered", "typed", "typed_train"):
            figures = result[model][setting]
            assert {"mrr", "hits@1", "hits@3", "hits@10", "mr", "amri"} <= set(figures)
    assert set(result["significance"]["typed"]) == {"mrr", "hits@10"}
    assert {"neighbors", "beta", "alpha", "valid_mrr_baseline", "valid_mrr_infused"} <= set(
        result["selection"]
    )
    for cost in ("seconds", "cpu_seconds", "peak_gb"):
        assert set(result[cost]) == {"netemb", "baseline", "infusion", "evaluation"}
        assert all(value > 0 for value in result[cost].values())
    assert list(result["peak_gb"].values()) == sorted(result["peak_gb"].values())  # Of the process so far.
    assert result["versions"]["torch"]


def test_models_are_data_only(sweep: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    import torch

    files = list(sweep[0].rglob("*.pt"))
    assert len(files) == 8  # 2 network embeddings, 2 baselines, 4 infusions.
    for path in files:
        torch.load(path, weights_only=True)


def test_relative_paths_start_where_the_command_is_typed(tmp_path: Path) -> None:
    write_folder(tmp_path / "D", BASE)
    arguments = ["dataset=folder", "dataset.path=./D", *TINY]
    for more in ([], ["hydra.job.chdir=true"], ["-m", "hydra.job.chdir=true", "seed=1,2"]):
        ran = mohone(tmp_path, *more, *arguments)
        assert ran.returncode == 0, ran.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"D", "outputs"}
    assert len(results(tmp_path)) == 4
    (table,) = tmp_path.rglob("table.md")
    assert sum("| D  " in line for line in table.read_text().split("\n")) == 2
    assert {job["dataset"]["name"] for job in results(tmp_path)} == {"D"}


def test_a_failing_job_lets_the_others_run(tmp_path: Path) -> None:
    write_folder(tmp_path / "D", BASE)
    write_folder(tmp_path / "D2", {**BASE, "test": ["c r a"]})
    ran = mohone(tmp_path, "-m", "dataset=folder", "dataset.path=D,/nonexistent,D2", *TINY)
    assert ran.returncode == 1
    jobs = {job["config"]["dataset"]["path"].rpartition("/")[2]: job for job in results(tmp_path)}
    assert {name: job["status"] for name, job in jobs.items()} == {
        "D": "ok",
        "nonexistent": "failed",
        "D2": "ok",
    }
    assert "Traceback" in jobs["nonexistent"]["error"]
    assert {job["dataset"]["name"] for job in jobs.values()} == {"D", "nonexistent", "D2"}
    assert "failed: " in ran.stderr
    assert "`dataset.path` must be a folder, but /nonexistent is none." in ran.stderr
    assert "| failed" in ran.stdout


def test_a_folder_with_a_result_is_not_written_over(tmp_path: Path) -> None:
    arguments = ["netemb=none", *[a for a in TINY if "netemb" not in a], "hydra.run.dir=here"]
    assert mohone(tmp_path, *arguments).returncode == 0
    (before,) = results(tmp_path)
    files = {path: path.read_bytes() for path in (tmp_path / "here").rglob("*") if path.is_file()}
    again = mohone(tmp_path, *arguments, "seed=1")
    assert again.returncode == 1
    assert "The folder of a job must be a new one" in again.stdout
    assert mohone(tmp_path, *arguments, "dim=0").returncode == 1
    assert {path: path.read_bytes() for path in (tmp_path / "here").rglob("*") if path.is_file()} == files
    assert "seed: 0" in (tmp_path / "here/config.yaml").read_text()
    same = mohone(tmp_path, *arguments)
    assert same.returncode == 0
    assert "skipped: this job has ended before" in same.stdout
    assert "link prediction on the test triples" in same.stdout  # What came out is said again.
    assert results(tmp_path) == [before]
    assert before["infused"] is None


def test_a_failed_job_may_be_tried_again_in_its_folder(tmp_path: Path) -> None:
    arguments = ["dataset=folder", "dataset.path=2024", *TINY, "hydra.run.dir=here"]
    assert mohone(tmp_path, *arguments).returncode == 1
    write_folder(tmp_path / "2024", BASE)
    assert mohone(tmp_path, *arguments).returncode == 0
    assert [job["status"] for job in results(tmp_path)] == ["ok"]


def test_a_graph_without_edges_has_nothing_to_infuse(tmp_path: Path) -> None:
    write_folder(tmp_path / "D", {"train": ["a r a", "b r b"], "valid": ["a r b"], "test": ["b r a"]})
    ran = mohone(tmp_path, "dataset=folder", "dataset.path=D", *TINY)
    assert ran.returncode == 0, ran.stdout
    assert "chosen on validation: no infusion" in ran.stdout


def test_help_lists_the_groups(tmp_path: Path) -> None:
    ran = mohone(tmp_path, "--help")
    assert ran.returncode == 0
    assert "kge_model: analogy, complex, distmult, pykeen_transd, " in ran.stdout
    assert "netemb: deepwalk, node2vec, none, shnb, struct" in ran.stdout


def test_keys_change_with_what_matters_and_with_nothing_else(tmp_path: Path) -> None:
    from mohone.configuration.compose import compose_plain
    from mohone.experiment.plan import make_plan
    from mohone.experiment.stages import Runner

    def keys(*overrides: str) -> dict[str, str]:
        plan = make_plan(compose_plain(list(overrides)), tmp_path)
        return Runner(plan, plan.dataset.load()).keys

    def changed(*overrides: str) -> set[str]:
        return {stage for stage, key in keys(*overrides).items() if key != usual[stage]}

    usual = keys()
    every = {"netemb", "baseline", "infusion"}
    assert changed("netemb.scale=3") == changed("netemb=struct") == {"netemb", "infusion"}
    assert changed("netemb.min_steps=2") == {"netemb", "infusion"}
    assert changed("training.lr=0.1") == changed("kge_model=complex") == {"baseline", "infusion"}
    assert changed("kge_model.reciprocal=true") == changed("training=one_vs_all") == {"baseline", "infusion"}
    assert changed("infusion.beta=[0.1]") == changed("infusion=query") == {"infusion"}
    assert (
        changed("seed=1") == changed("trainer.precision=bf16-mixed") == changed("dataset=kinships") == every
    )
    for same in ("progress=false", "allocator=false", "logger=none", "data_dir=x", "store_dir=y"):
        assert changed(same) == set()
