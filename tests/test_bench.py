"""The benchmark's script on a small data set, ours only, and its pure functions."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from bench import child, cli, processes
from bench.clock import Clock, extrapolate, warmup_of
from bench.figures import number
from bench.machine import cpu_model
from bench.picture import draw
from bench.plan import MODELS, full_spec, plan, probed_batch
from bench.ratios import all_ratios
from bench.subjects import count_batch, first_epoch, make_objective, shared_candidates
from bench.tables import page
from mohone.data import KnowledgeGraph
from mohone.reporting.markdown import table

ROOT = Path(__file__).resolve().parents[1]
TINY = ["--dataset", "umls", "--dim", "4", "--seconds", "0.01", "--threads", "1", "--no-pykeen"]


@pytest.fixture
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def options(*arguments: str) -> Any:
    return cli._options(cli._parser().parse_args([*TINY, *arguments]))


def test_the_script_measures_in_processes_and_leaves_figures_and_table(tmp_path: Path) -> None:
    kinds = "ours_evaluate,floor_evaluate,floor_train"
    arguments = ["--models", "transe,distmult", "--only", kinds, "--skip-quality", "--out", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench_kge.py"), *TINY, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert all("result" in record for record in report["measurements"]), report["measurements"]
    assert [(r["kind"], r["model"]) for r in report["measurements"]] == [
        ("ours_evaluate", "transe"),
        ("floor_train", "distmult"),
        ("ours_evaluate", "distmult"),
        ("floor_evaluate", "distmult"),
    ]
    assert report["ratios"]["floor_evaluate"]["distmult"] > 0
    assert all(record["result"]["peak_mb"] > 0 for record in report["measurements"])
    assert report["machine"]["torch_threads"] == 1
    text = (tmp_path / "bench.md").read_text(encoding="utf-8")
    assert "| distmult |" in text
    assert text in ran.stdout
    drawn = importlib.util.find_spec("matplotlib") is not None
    assert (tmp_path / "bench.png").exists() == drawn
    assert ("matplotlib is not installed" in ran.stdout) != drawn


@pytest.mark.usefixtures("_one_thread")
def test_every_kind_of_ours_is_measured_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole plan, in this process: its imports are there already."""

    def here(spec: dict[str, Any], time_limit: float) -> dict[str, Any]:
        torch.manual_seed(0)
        return {**processes._named(spec), "result": child.measure(spec), "time_limit": time_limit}

    monkeypatch.setattr(cli, "run_measurement", here)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert cli.main([*TINY, "--models", "transe,complex,distmult", "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    kinds = {record["kind"] for record in report["measurements"]}
    assert kinds == {"ours_train", "ours_evaluate", "floor_train", "floor_evaluate", "lightning", "quality"}
    bilinear = {"complex", "distmult"}
    assert set(report["ratios"]) == {"floor_epoch", "floor_evaluate"}
    for compared in report["ratios"].values():
        assert set(compared) == bilinear
        assert min(compared.values()) > 0
    for record in report["measurements"]:
        if record["kind"] == "ours_train":
            assert record["result"]["steps_timed"] > 0
            assert record["result"]["scored_per_second"] > 0
    outcomes = [r["result"] for r in report["measurements"] if r["kind"] == "quality"]
    assert [len(outcome["history"]) for outcome in outcomes] == [10, 10]
    for outcome in outcomes:
        for epoch in outcome["history"]:
            assert 0 < epoch["train_seconds"] < min(epoch["total_seconds"].values())
            assert 0 < epoch["mrr"]["train+valid"] <= 1
            assert epoch["mrr"]["train+valid"] <= epoch["mrr"]["all"]
    printed = capsys.readouterr().out
    assert "## Time to quality" in printed
    assert "matplotlib is not installed" in printed
    assert not (tmp_path / "bench.png").exists()


def test_a_training_is_measured_in_a_process() -> None:
    item = {"kind": "ours_train", "model": "transe", "objective": "negative_sampling"}
    spec, limit = full_spec(item, options(), [])
    record = processes.run_measurement(spec, limit)
    assert record["result"]["epoch_seconds"] > 0
    assert record["result"]["torch_threads"] == 1


def test_a_failure_and_a_time_limit_are_recorded() -> None:
    spec, _ = full_spec({"kind": "ours_evaluate", "model": "analogy"}, options("--dim", "3"), [])
    assert "must be even" in processes.run_measurement(spec, 100)["failed"]
    assert processes.run_measurement(spec, 0.01)["failed"] == "took more than 0.01 s"


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "expected"),
    [
        (0, 'a warning\n{"a": 1}\n', "", {"result": {"a": 1}}),
        (0, "no json\n", "", {"failed": "printed no JSON: no json"}),
        (-9, "", "", {"failed": "killed by SIGKILL"}),
        (1, "", "Traceback\nRuntimeError: too little\n  at ??\n", {"failed": "RuntimeError: too little"}),
        (3, "", "", {"failed": "exit code 3"}),
    ],
)
def test_what_a_child_left_is_read(code: int, stdout: str, stderr: str, expected: dict[str, Any]) -> None:
    assert processes.outcome(code, stdout, stderr) == expected


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--models", "transe,rotate"], "`--models` must be among"),
        (["--only", "all"], "`--only` must be among"),
        ([], ""),
    ],
)
def test_wrong_choices_are_refused_in_a_sentence(arguments: list[str], fault: str) -> None:
    found = cli.check(options(*arguments))
    assert found.startswith(fault)
    assert bool(found) == bool(fault)


def test_a_missing_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--data-dir", str(tmp_path), "--no-pykeen"]) == 2
    assert "must hold the folder fb15k-237" in capsys.readouterr().err


def test_the_plan_puts_side_by_side_what_is_compared() -> None:
    chosen = cli._options(cli._parser().parse_args(["--dataset", "umls"]))
    kinds = [(item["kind"], item["model"], item.get("objective")) for item in plan(chosen)]
    assert len(kinds) == len(set(kinds))
    for model in MODELS:
        assert ("ours_train", model, "negative_sampling") in kinds
        assert (("pykeen_train", model, "negative_sampling") in kinds) == (model != "analogy")
    assert (
        kinds.index(("pykeen_evaluate", "transr", None)) == kinds.index(("pykeen_probe", "transr", None)) + 1
    )
    assert kinds[-1] == ("quality", "complex", "one_vs_all")


def test_the_batch_size_of_evaluation_is_the_probes() -> None:
    records = [{"kind": "pykeen_probe", "model": "transe", "result": {"batch_size": 64}}]
    assert probed_batch("transe", records) == 64
    assert probed_batch("transh", records) == 16
    assert probed_batch("transh", [{"kind": "pykeen_probe", "model": "transh", "failed": "so"}]) == 16


def test_shared_candidates_count_an_answer_once() -> None:
    answers, negatives = torch.tensor([3, 3, 5]), torch.tensor([5, 7])
    left_out = torch.cat([answers, negatives])[None] == answers[:, None]
    left_out.fill_diagonal_(False)
    assert shared_candidates(answers, negatives) == int((~left_out).sum()) == 12


@pytest.mark.parametrize("name", ["negative_sampling", "one_vs_all"])
def test_batches_of_an_epoch_have_all_its_examples(name: str, umls: KnowledgeGraph) -> None:
    n, batches, seconds = first_epoch(umls, make_objective(name, "transe"), 512)
    counts = [count_batch(batch, umls.n_entities) for batch in batches]
    assert sum(examples for examples, _ in counts) == n
    assert min(scored for _, scored in counts) > 0
    assert seconds > 0


def test_the_clock_times_whole_steps_and_scales_them() -> None:
    clock = Clock(seconds=0.0, warmup=2)
    counted = []
    for _ in range(10):
        if clock.tick(lambda: counted.append(1) or (4, 12)):
            break
    assert len(clock.times) == len(counted) == 3
    clock.times = [1.0, 2.0, 3.0]
    epoch = clock.epoch(n_examples=24, fixed=0.5)
    assert epoch["epoch_seconds"] == pytest.approx(0.5 + 6.0 / 12 * 24)
    assert epoch["scored_per_second"] == pytest.approx(36 / 6)
    assert epoch["step_ms_median"] == 2000


def test_a_clock_of_steps_counts_steps() -> None:
    clock = Clock(seconds=1e9, warmup=1, steps=2)
    assert [clock.tick(lambda: (1, 1)) for _ in range(3)] == [False, False, True]


def test_warm_up_never_takes_all() -> None:
    assert [warmup_of(n) for n in (1, 2, 5, 100)] == [0, 1, 2, 3]


def test_times_are_scaled_on_a_line_that_does_not_fall() -> None:
    assert extrapolate((10, 20), (2.0, 3.0), 100) == pytest.approx(11.0)
    assert extrapolate((10, 20), (3.0, 2.0), 100) == pytest.approx(2.0)
    assert extrapolate((1, 1), (2.0, 2.0), 3) == pytest.approx(6.0)


def record(kind: str, objective: str | None = None, **result: float) -> dict[str, Any]:
    named = {"kind": kind, "model": "transe"} | ({"objective": objective} if objective else {})
    return {**named, "result": {"peak_mb": 500.0, **result}}


def report(*records: dict[str, Any]) -> dict[str, Any]:
    measured = list(records)
    machine = {"cpu": "A CPU", "cores": 2, "torch_threads": 2, "python": "3.11", "date": "today"}
    return {
        "machine": {**machine, "versions": {"torch": "2", "pykeen": None}},
        "options": {"dataset": None, "dataset_folder": "d", "dim": 4, "negatives": 64, "pykeen_test": 9},
        "ratios": all_ratios(measured),
        "measurements": measured,
    }


FULL = (
    record("ours_train", "negative_sampling", epoch_seconds=2.0, scored_per_second=9e7),
    record("pykeen_train", "negative_sampling", epoch_seconds=8.0, scored_per_second=3e7),
    record("ours_evaluate", evaluate_seconds=5.0),
    record("pykeen_evaluate", evaluate_seconds=50.0, batch_size=16),
)


def test_ratios_are_times_better() -> None:
    assert all_ratios(list(FULL)) == {
        "epoch": {"transe": 4.0},
        "scored": {"transe": 3.0},
        "evaluate": {"transe": 10.0},
    }
    failed = {"kind": "pykeen_evaluate", "model": "transe", "failed": "memory"}
    assert "evaluate" not in all_ratios([*FULL[:3], failed])


def test_the_page_shows_ratios_and_names_failures() -> None:
    text = page(report(*FULL))
    assert "A CPU, 2 cores" in text
    assert "pykeen None" not in text
    assert "10.0x" in text
    assert "What failed" not in text
    failed = {"kind": "pykeen_evaluate", "model": "transe", "failed": "took more than 300 s"}
    text = page(report(*FULL[:3], failed))
    assert "- pykeen_evaluate transe: took more than 300 s" in text
    assert "| failed" in text


def test_the_picture_is_drawn_where_matplotlib_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert draw(report(*FULL), tmp_path / "bench.png")
    assert (tmp_path / "bench.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0"), (0.01234, "0.0123"), (0.1234, "0.123"), (1.2345, "1.23"), (9.999, "10.0")],
)
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_large_numbers_are_whole() -> None:
    assert number(12345.6, " s") == "12,346 s"


def test_tables_are_in_line() -> None:
    assert table(("a", "b"), [("1", "long")]) == "| a | b    |\n| - | ---- |\n| 1 | long |\n"


def test_the_processor_is_read() -> None:
    assert cpu_model("processor : 0\nmodel name\t: Some CPU @ 2 GHz\n") == "Some CPU @ 2 GHz"
    assert cpu_model("") == ""


def test_the_starting_process_imports_no_torch() -> None:
    """Its memory would count as that of every measurement."""
    program = "import sys, bench.cli; sys.exit('torch' in sys.modules)"
    path = os.pathsep.join([str(ROOT), str(ROOT / "scripts")])
    ran = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, check=False)
    assert ran.returncode == 0
