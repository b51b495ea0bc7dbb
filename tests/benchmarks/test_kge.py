"""The benchmark of models on a small data set, ours only, and its pure functions."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import child, kge, ours, processes, training
from benchmarks.clock import Clock, extrapolate
from benchmarks.kge_page import all_ratios, draw, page
from benchmarks.text import number
from mohone.data import KnowledgeGraph

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--data-dir", str(ROOT / "mohone/data"), "--dataset-folder", "umls"]
TINY = [*SMALL, "--dim", "4", "--seconds", "0.01", "--threads", "1"]
SPEC = {"data_dir": str(ROOT / "mohone/data"), "dataset_folder": "umls", "threads": 1, "time_limit": 100}


def test_every_kind_of_ours_is_measured_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole plan, in this process: its imports are there already."""

    def here(spec: dict[str, Any]) -> dict[str, Any]:
        names = {key: spec[key] for key in ("kind", "model", "objective") if key in spec}
        return {**names, "result": child.measure(spec)}

    monkeypatch.setattr(processes, "run_measurement", here)
    monkeypatch.setattr(training, "_QUALITY_EPOCHS", 2)
    sides = "ours,floor,lightning,quality"
    assert kge.main([*TINY, "--only", f"transe,complex,{sides}", "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    results = {(r["kind"], r["model"], r.get("objective")): r["result"] for r in report["measurements"]}
    assert set(results) == {
        ("ours_train", "transe", "negative_sampling"),
        ("ours_train", "transe", "one_vs_all"),
        ("ours_evaluate", "transe", None),
        ("ours_evidence", "transe", None),
        ("ours_train", "complex", "negative_sampling"),
        ("ours_train", "complex", "one_vs_all"),
        ("floor_train", "complex", "one_vs_all"),
        ("ours_evaluate", "complex", None),
        ("ours_evidence", "complex", None),
        ("floor_evaluate", "complex", None),
        ("lightning", "transe", "negative_sampling"),
        ("quality", "transe", "negative_sampling"),
        ("quality", "complex", "one_vs_all"),
    }
    assert report["ratios"].keys() == {"evidence", "floor_epoch", "floor_evaluate"}
    for (kind, _, _), result in results.items():
        assert result["peak_mb"] > 0
        if kind.endswith("_train"):
            assert result["epoch_seconds"] > 0
            assert result["steps_timed"] > 0
        elif kind == "quality":
            assert len(result["history"]) == 2
            for epoch in result["history"]:
                assert 0 < epoch["train_seconds"] < min(epoch["total_seconds"].values())
                assert 0 < epoch["mrr"]["train+valid"] <= epoch["mrr"]["all"] <= 1
    text = (tmp_path / "bench.md").read_text(encoding="utf-8")
    assert text in capsys.readouterr().out
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == [
        "Training",
        "Evaluation",
        "Evidence",
        "Floors of one_vs_all",
        "Lightning's share of a step",
        "Time to quality",
    ]


def test_a_measurement_has_a_process_of_its_own() -> None:
    record = processes.run_measurement({**SPEC, "kind": "floor_evaluate", "model": "distmult", "dim": 3})
    assert (record["kind"], record["model"]) == ("floor_evaluate", "distmult")
    assert record["result"]["evaluate_seconds"] > 0
    assert record["result"]["torch_threads"] == 1
    assert record["process_seconds"] > record["result"]["evaluate_seconds"]


def test_a_time_limit_is_recorded() -> None:
    record = processes.run_measurement(
        {**SPEC, "kind": "ours_evaluate", "model": "transe", "time_limit": 0.01}
    )
    assert record["failed"] == "took more than 0.01 s"


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "expected"),
    [
        (0, 'a warning\n{"a": 1}\n', "", {"result": {"a": 1}}),
        (-9, "", "", {"failed": "killed by SIGKILL"}),
        (1, "", "Traceback\nRuntimeError: too little\n  at ??\n", {"failed": "RuntimeError: too little"}),
        (3, "", "", {"failed": "exit code 3"}),
    ],
)
def test_what_a_child_left_is_read(code: int, stdout: str, stderr: str, expected: dict[str, Any]) -> None:
    assert processes.outcome(code, stdout, stderr) == expected


def test_only_names_models_and_sides() -> None:
    assert kge._only("transe, complex") == (("transe", "complex"), ("ours", "pykeen", "floor"))
    assert kge._only("quality") == (kge.MODELS, ("quality",))
    assert kge._only("ours,transr") == (("transr",), ("ours",))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*SMALL, "--only", "transe,rotate"], "must be among transe, .* but has 'rotate'"),
        (["--data-dir", "nowhere"], "must hold the folder fb15k-237, but nowhere/fb15k-237 is none"),
    ],
)
def test_wrong_choices_are_refused_in_a_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        kge.main([*arguments, "--out", "nowhere"])
    assert re.search(sentence, capsys.readouterr().err.replace("\n", " "))


def test_the_plan_measures_both_sides_and_takes_the_probed_batch_size() -> None:
    records: list[dict[str, Any]] = []
    items = []
    for item in kge.plan(kge.MODELS, kge.SIDES, records):
        items.append(item)
        if item["kind"] == "pykeen_probe" and item["model"] == "transe":
            records.append({**item, "result": {"batch_size": 64}})
        elif item["kind"] == "pykeen_probe":
            records.append({**item, "failed": "so"})
    names = [(item["kind"], item["model"], item.get("objective")) for item in items]
    assert len(names) == len(set(names))
    for model in kge.MODELS:
        assert ("ours_train", model, "negative_sampling") in names
        assert (("pykeen_train", model, "negative_sampling") in names) == (model != "analogy")
    sizes = {item["model"]: item["batch_size"] for item in items if item["kind"] == "pykeen_evaluate"}
    assert sizes.pop("transe") == 64
    assert set(sizes.values()) == {16}


def test_shared_candidates_count_an_answer_once() -> None:
    answers, negatives = torch.tensor([3, 3, 5]), torch.tensor([5, 7])
    left_out = torch.cat([answers, negatives])[None] == answers[:, None]
    left_out.fill_diagonal_(False)
    assert ours.shared_candidates(answers, negatives) == int((~left_out).sum()) == 12


@pytest.mark.parametrize("name", ["negative_sampling", "one_vs_all"])
def test_batches_of_an_epoch_have_all_its_examples(name: str, umls: KnowledgeGraph) -> None:
    objective = ours.make_objective({"model": "transe", "objective": name})
    n, batches, seconds = ours.first_epoch(umls, objective, 512)
    counts = [ours.count_batch(batch, umls.n_entities) for batch in batches]
    assert sum(examples for examples, _ in counts) == n
    assert min(scored for _, scored in counts) > 0
    assert seconds > 0


def test_the_clock_times_whole_steps_and_scales_them() -> None:
    clock = Clock(seconds=0.0, n_steps=4)
    assert [clock.tick(lambda: (4, 12)) for _ in range(5)] == [False] * 4 + [True]  # Two are not timed.
    clock.times = [1.0, 2.0, 3.0]
    epoch = clock.epoch(n_examples=24, fixed=0.5)
    assert epoch["epoch_seconds"] == pytest.approx(0.5 + 6.0 / 12 * 24)
    assert epoch["scored_per_second"] == pytest.approx(36 / 6)
    assert epoch["step_ms_median"] == 2000


def test_a_clock_of_steps_counts_steps() -> None:
    clock = Clock(seconds=1e9, n_steps=2, steps=2)
    assert [clock.tick(lambda: (1, 1)) for _ in range(3)] == [False, False, True]


def test_times_are_scaled_on_a_line_that_does_not_fall() -> None:
    assert extrapolate((10, 20), (2.0, 3.0), 100) == pytest.approx(11.0)
    assert extrapolate((10, 20), (3.0, 2.0), 100) == pytest.approx(2.0)
    assert extrapolate((1, 1), (2.0, 2.0), 3) == pytest.approx(6.0)


def record(kind: str, objective: str | None = None, **result: float) -> dict[str, Any]:
    named = {"kind": kind, "model": "transe"} | ({"objective": objective} if objective else {})
    return {**named, "result": {"peak_mb": 500.0, **result}}


RECORDS = [
    record("ours_train", "negative_sampling", epoch_seconds=2.0, scored_per_second=9e7),
    record("pykeen_train", "negative_sampling", epoch_seconds=8.0, scored_per_second=3e7),
    record("ours_evaluate", evaluate_seconds=5.0),
    record("pykeen_evaluate", evaluate_seconds=60.0, batch_size=16),
]
FAILED = {"kind": "pykeen_evaluate", "model": "transe", "failed": "took more than 300 s"}


def test_ratios_are_times_better() -> None:
    compared = {"epoch": {"transe": 4.0}, "scored": {"transe": 3.0}}
    assert all_ratios(RECORDS) == {**compared, "evaluate": {"transe": 12.0}}
    assert all_ratios([*RECORDS[:3], FAILED]) == compared


def test_the_page_shows_figures_and_names_failures() -> None:
    options = {"dataset_folder": "d", "dim": 4, "negatives": 64, "pykeen_test": 9}
    report = {"machine": processes.machine(3), "options": options, "measurements": RECORDS}
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page(report).splitlines()]
    first = ["2.00 s", "90.0 M/s", "0.500 GB", "8.00 s", "30.0 M/s", "0.500 GB", "4.00x", "3.00x"]
    assert ["transe", "negative_sampling", *first] in rows
    assert ["transe", "5.00 s", "0.500 GB", "-", "-", "60.0 s", "0.500 GB", "16", "12.0x"] in rows
    assert "3 threads of torch" in page(report)
    assert "What failed" not in page(report)
    text = page({**report, "measurements": [*RECORDS[:3], FAILED]})
    assert "- pykeen_evaluate transe: took more than 300 s" in text
    assert "| failed" in text


def test_the_picture_is_drawn_where_matplotlib_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert draw([*RECORDS[:3], FAILED], tmp_path / "bench.png")
    assert (tmp_path / "bench.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0"),
        (16, "16"),
        (0.01234, "0.0123"),
        (0.1234, "0.123"),
        (1.2345, "1.23"),
        (9.999, "10.0"),
        (12345.6, "12,346"),
    ],
)
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_the_starting_process_imports_no_torch() -> None:
    """Its memory would count as that of every measurement."""
    program = "import sys, benchmarks.kge, benchmarks.networks; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
