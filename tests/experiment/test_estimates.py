"""What a job will take: held to what is really allocated, and said before it is tried."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mohone.configuration.compose import absolute_paths, compose_plain
from mohone.core.machine import GB
from mohone.evidence.collect import collect
from mohone.evidence.fit import learn_experts
from mohone.evidence.heat import Heat
from mohone.experiment.estimated_memory import held, model_numbers
from mohone.experiment.estimated_time import Times
from mohone.experiment.estimates import estimate
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.runner import Runner
from mohone.infusion.evidence import Evidence
from tests.helpers.commands import TINY, mohone, results
from tests.helpers.graphs import write_folder

MODELS = ("transe", "transh", "transr", "transd", "rescal", "distmult", "complex", "analogy")


def runner_of(folder: Path, *settings: str) -> Runner:
    config = absolute_paths(compose_plain([*settings, "store_dir=store"]), folder)
    plan = make_plan(config, folder)
    return Runner(plan, plan.dataset.load())


@pytest.mark.parametrize("model", MODELS)
def test_tables_and_what_optimisers_keep_are_counted_exactly(model: str, tmp_path: Path) -> None:
    plan = runner_of(tmp_path, f"kge_model={model}", "kge_model.reciprocal=true", "dim=6").plan
    made = plan.new_model(31, 7)
    optimizer = plan.training.new_optimizer(made.parameters(), on_cpu=True)
    for table in made.parameters():
        table.grad = torch.zeros_like(table)
    optimizer.step()
    state = [x for each in optimizer.state.values() for x in each.values() if isinstance(x, torch.Tensor)]
    tables = sum(table.numel() for table in made.parameters())
    assert model_numbers(plan, 31, 7) == (tables, sum(x.numel() for x in state))
    assert tables > 31 * 6


def pairs(folder: Path, n: int) -> Path:
    """A data set of n entities, each linked to one other."""
    train = [f"e{i} r e{i + 1}" for i in range(0, n, 2)]
    return write_folder(folder, {"train": train, "valid": train[:9], "test": train[9:18]})


_TRAIN = """
import sys
from pathlib import Path
from mohone.experiment.job import run_stages
from mohone.experiment.plan import make_plan
from tests.experiment.test_estimates import runner_of
folder = Path(sys.argv[1])
runner = runner_of(folder, *sys.argv[2:])
def peak():  # Not getrusage's, which begins with that of the process that started this one.
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    return int(line.split()[1]) << 10
before = peak()
runner.run(runner.baseline)
print("took", peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Peaks are measured otherwise elsewhere.")
@pytest.mark.parametrize(
    "settings",
    [  # Tables of 64 MB, with two more by the optimiser; scores of 80 MB.
        ["dim=400", "training.n_candidates=64", "training.optimizer._target_=torch.optim.Adam"],
        ["dim=4", "training.n_candidates=null"],
    ],
)
def test_what_a_training_holds_is_near_what_it_takes(settings: list[str], tmp_path: Path) -> None:
    data = pairs(tmp_path / "data", 20_000)
    settings = [
        "dataset=folder",
        f"dataset.path={data}",
        "kge_model=complex",
        "training=one_vs_all",
        *settings,
    ]
    settings += ["netemb=none", "training.max_epochs=1", "training.lr=0.1", "allocator=false"]
    settings += ["training.batch_size=1024"]
    reckoned = held(runner_of(tmp_path, *settings))["baseline"].total
    ran = subprocess.run(
        [sys.executable, "-c", _TRAIN, str(tmp_path), *settings],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    took = float(ran.stdout.split("took ")[1])
    assert took / 1.7 < reckoned < 1.7 * took, (reckoned / GB, took / GB)


def test_of_tables_trained_by_row_neither_gradients_nor_best_weights_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ["kge_model=complex", "training=negative_sampling", "netemb=none"]
    settings += ["training.optimizer._target_=torch.optim.Adagrad"]
    dense = held(runner_of(tmp_path, *settings))["baseline"]
    monkeypatch.setattr("mohone.experiment.estimated_memory.LARGE", 1000)
    by_row = held(runner_of(tmp_path, *settings))["baseline"]
    assert dense.total - by_row.total == 2 * 4 * dense.numbers
    assert set(dense.parts) - set(by_row.parts) == {"gradients", "best weights"}


def small(monkeypatch: pytest.MonkeyPatch, left: int) -> None:
    for name in ("estimated_memory", "estimates"):
        monkeypatch.setattr(f"mohone.experiment.{name}.memory_left", lambda *_: left)


def test_a_job_without_memory_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ["netemb=none", *TINY[:3], "hydra.run.dir=here"]
    small(monkeypatch, 1 << 20)
    ran = mohone(tmp_path, *job)
    assert ran.returncode == 1
    assert (
        "The baseline must fit in the memory of this machine, of which 0.0 GB are left, but would hold about"
    ) in ran.stdout
    assert "`check_memory=false` tries all the same." in ran.stdout
    planned = mohone(tmp_path, *job[:-1], module="mohone.plan")
    assert planned.returncode == 1
    assert planned.stderr.startswith("The baseline must fit in the memory of this machine")
    assert "not measured" in planned.stdout
    assert mohone(tmp_path, *job, "check_memory=false").returncode == 0
    assert [each["status"] for each in results(tmp_path)] == ["ok"]
    small(monkeypatch, 1 << 30)
    assert "skipped: this job has ended before" in mohone(tmp_path, *job).stdout  # It is the same job.


def test_each_stage_is_planned_and_what_is_stored_takes_no_time(tmp_path: Path) -> None:
    settings = ["kge_model=distmult", *TINY]
    runner = runner_of(tmp_path, *settings)
    found = {each.stage: each for each in estimate(runner)}
    assert list(found) == ["netemb", "baseline", "infusion", "evaluation"]
    assert all(each.time.seconds and not each.refusal for each in found.values())
    assert "x 41 x 2 epochs" in found["baseline"].time.source  # 5,216 triples in batches of 128.
    assert not (tmp_path / "store").exists()
    runner.run(runner.network)
    runner.run(runner.baseline)
    again = {each.stage: each.time for each in estimate(runner_of(tmp_path, *settings))}
    assert {name for name, each in again.items() if each.source == "in the store already"} == {
        "netemb",
        "baseline",
    }
    assert again["netemb"].seconds == again["baseline"].seconds == 0


def test_what_evidence_holds_is_counted(tmp_path: Path) -> None:
    job = ["infusion=evidence", "infusion.experts=[heat,frequency]", *TINY[:3]]
    runner = runner_of(tmp_path, *job)
    kg, infusion = runner.kg, runner.plan.infusion
    assert isinstance(infusion, Evidence)
    experts = infusion.new_experts()
    learn_experts(experts, kg, None, 0)
    model = runner.plan.new_model(kg.n_entities, kg.n_relations)
    lists = collect(model, experts, kg, 1.0, infusion.candidates)
    n_bytes = lists.lists.values.nbytes + lists.candidates.nbytes
    parts = held(runner)["infusion"].parts
    assert parts["lists of candidates"] == pytest.approx(1.8 * n_bytes)  # A fold has most of them once more.
    heat = experts[0]
    assert isinstance(heat, Heat)
    kept = heat._heat._kept.nbytes  # type: ignore[union-attr]
    assert heat.held_bytes(kg.n_entities) == kept
    assert parts["experts"] == kept + 32 * len(kg.train)
    few = held(runner_of(tmp_path, *job, "evaluation.valid_queries=100"))["infusion"].parts
    share = few["lists of candidates"] / parts["lists of candidates"]
    assert share == pytest.approx(100 / (2 * len(kg.valid)))


@pytest.mark.parametrize(
    "settings",
    [
        ["training=one_vs_all", "kge_model=complex", "netemb=struct"],
        ["training=k_vs_all", "kge_model=rescal", "netemb=shnb", "netemb.objective=sampled"],
        ["netemb=node2vec", "infusion=evidence"],
    ],
)
def test_all_kinds_of_stages_can_be_planned(settings: list[str], tmp_path: Path) -> None:
    runner = runner_of(tmp_path, *settings, "dim=4", "training.max_epochs=2")
    found = estimate(runner)
    assert all(each.time.seconds for each in found)
    assert all(each.held.total > 0 for each in found)


def test_planning_changes_no_training(tmp_path: Path) -> None:
    settings = ["netemb=none", *TINY[:3]]
    plain, planned = (runner_of(tmp_path / name, *settings) for name in "ab")
    Times(planned).of("baseline")
    histories = [runner.run(runner.baseline).notes["history"] for runner in (plain, planned)]
    assert histories[0] == histories[1]
