"""Results read back: whole, half and damaged ones, and one that stands in another's way."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mohone.core.errors import OccupiedError
from mohone.report import main
from mohone.reporting.cells import is_better
from mohone.reporting.groups import AmbiguousError, group_results
from mohone.reporting.infusions import Column, experts_of
from mohone.reporting.jobs import jobs_table
from mohone.reporting.page.jobs import jobs_of
from mohone.reporting.results import RANKS, RESULT, finished, read_ranks, read_results, write_failed
from tests.reporting.made_up import found, result


def test_whole_files_that_are_no_results_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(tmp_path, result(), {"schema": 1, "status": "ok"}, {"schema": 1}, {})
    assert main([str(tmp_path), "--format", "markdown"]) == 0
    assert capsys.readouterr().err.count("is no result of this program") == 3
    (tmp_path / "0/result.json").unlink()
    assert main([str(tmp_path)]) == 1
    assert "There must be results" in capsys.readouterr().err


def test_two_baselines_of_a_model_are_refused(tmp_path: Path) -> None:
    other = result(netemb="struct", before=0.1)
    other["stages"]["baseline"]["key"] = "another"
    with pytest.raises(AmbiguousError, match=r"one baseline for a model and seed, but .*/0 and .*/1 differ"):
        group_results(found(tmp_path, result(), other))


def test_two_results_of_one_cell_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = result()
    other["stages"]["infusion"]["key"] = "another"
    with pytest.raises(AmbiguousError, match=r"one result for a cell, .*/0 and .*/1 differ"):
        group_results(found(tmp_path, result(), other))
    assert main([str(tmp_path), "--format", "markdown"]) == 1
    assert "one result for a cell" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 0  # Rows of jobs can always be shown.


@pytest.mark.parametrize("whole", [[], "x", None, {"dataset": {}}, {"schema": 1, "status": "failed"}])
def test_whatever_json_a_file_holds_it_is_passed_over(tmp_path: Path, whole: Any) -> None:
    assert len(found(tmp_path, result(), whole)) == 1


def _without(*keys: str) -> dict[str, Any]:
    """A result that lacks one thing, however deep."""
    each: dict[str, Any] = json.loads(json.dumps(result()))
    node = each
    for key in keys[:-1]:
        node = node[key]
    del node[keys[-1]]
    return each


@pytest.mark.parametrize(
    "half",
    [
        _without("baseline", "typed"),
        _without("infused", "filtered", "mrr"),
        _without("significance", "typed", "hits@10", "p_value"),
        _without("stages", "baseline"),
        _without("stages", "infusion", "key"),
        _without("selection", "neighbors"),
        _without("dataset", "name"),
        _without("seed"),
        result(seed=[0, 1]),
        result(kge_model=["transe"]),
        result(baseline=None),
        _without("selection"),
        _without("infused"),
        result(seed=10**400),
        result(before=float("nan")),
        result(before=10**400, after=None),
        result(p="0.1"),
        result(config=True),
        result(config={"infusion": True}),
        result(config={"choices": {"netemb": 3}}),
        result(selection={"beta": "0.2", "neighbors": 10}),
        result(seconds={"baseline": None}),
        result(versions=["2"]),
    ],
)
def test_half_results_are_passed_over_and_the_rest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], half: dict[str, Any]
) -> None:
    found(tmp_path, result(), half)
    for form in ("markdown", "csv"):
        assert main([str(tmp_path), "--format", form, "--against", "paper"]) == 0
    said = capsys.readouterr()
    assert said.err == f"{tmp_path / '1' / RESULT} is no result of this program and is passed over.\n"
    assert "0.3200" in said.out


@pytest.mark.parametrize("text", ["[" * 10_000, "9" * 5_000, '{"a":' * 10_000, "\udcff", "null"])
def test_no_text_is_too_odd_to_be_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / RESULT).write_text(text, encoding="utf-8", errors="surrogateescape")
    assert read_results([tmp_path]) == []


def test_jobs_that_failed_by_their_seeds_are_in_order_on_a_page(tmp_path: Path) -> None:
    for i, seed in enumerate([3, "x", [1], None]):
        write_failed(tmp_path / f"{i}", {"seed": seed, "dataset": {"name": "umls"}}, "E")
    jobs = sorted(jobs_of(read_results([tmp_path])), key=lambda job: job.order)
    assert [job.result["seed"] for job in jobs] == [3, None, [1], "x"]


def test_a_job_that_failed_by_its_seed_has_a_row(tmp_path: Path) -> None:
    write_failed(
        tmp_path / "0", {"seed": [1, 2], "recipe": 5, "dataset": {"name": "umls"}}, "E", "interrupted"
    )
    results = read_results([tmp_path])
    (group,) = group_results(results)
    assert group.baseline("None", "typed", "mrr") is None
    assert main([str(tmp_path), "--format", "markdown"]) == 0
    assert "| interrupted" in jobs_table(results)


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **{"infused/typed": array})
    return file.getvalue()


WHOLE = npz(np.random.default_rng(0).integers(1, 50, 400))
DAMAGED = {
    "empty": b"",
    "cut": WHOLE[: len(WHOLE) // 2],
    "no archive": b"no archive",
    "zeros": bytes(len(WHOLE)),
    "a byte": WHOLE[:80] + bytes([WHOLE[80] ^ 255]) + WHOLE[81:],
    "one array": npy(np.ones(3)),
    "texts": npz(np.array(["a", "b"])),
    "ranks of 0": npz(np.zeros(400)),
    "a number": npz(np.array(3.0)),
    "objects": npz(np.array([{}, None], dtype=object)),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_ranks_are_passed_over_once_and_the_rest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    found(tmp_path, result(after=0.33), result(netemb="node2vec", after=0.31))
    (tmp_path / "0" / RANKS).write_bytes(DAMAGED[damage])
    (tmp_path / "1" / RANKS).write_bytes(WHOLE)
    assert main([str(tmp_path), "--format", "markdown"]) == 0
    said = capsys.readouterr()
    assert "SHNB and Node2vec" in said.out
    assert said.err.count("is passed over") == 1
    assert str(tmp_path / "0" / RANKS) in said.err
    assert read_ranks(tmp_path / "1", "infused", "typed") is not None
    assert read_ranks(tmp_path / "1", "infused", "filtered") is None
    assert read_ranks(tmp_path, "infused", "typed") is None


def test_ranks_of_other_queries_are_no_ground_for_a_star(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result(), result(netemb="node2vec")))
    (tmp_path / "0" / RANKS).write_bytes(npz(np.ones(400)))
    (tmp_path / "1" / RANKS).write_bytes(npz(np.full(300, 9.0)))
    ours, theirs = (group.cell("transe", Column(name)) for name in ("shnb", "node2vec"))
    assert not is_better(ours, theirs, "typed")


def test_a_refused_job_is_told_what_differs(tmp_path: Path) -> None:
    config = {"seed": 0, "dim": 4, "progress": True, "training": {"lr": 0.1, "decay": None}}
    each = result(config=config)
    found(tmp_path, each)
    keys = {name: stage["key"] for name, stage in each["stages"].items()}
    assert finished(tmp_path / "0", keys) == each
    other = {**config, "progress": False, "seed": 1, "training": {"lr": 0.2, "loss": "bce", "decay": 1}}
    told = "`seed` is 0 there, 1 here; `training.lr` is 0.1 there, 0.2 here; `training.loss` is None there"
    with pytest.raises(
        OccupiedError, match=rf"/0 holds another's result \({told}, 'bce' here; 1 more\): name"
    ):
        finished(tmp_path / "0", {}, other)
    with pytest.raises(OccupiedError, match="of the same settings, but its data or the program have changed"):
        finished(tmp_path / "0", {}, config)
    with pytest.raises(OccupiedError, match="holds another's result: name another folder"):
        finished(tmp_path / "0", {})
    assert finished(tmp_path / "1", keys) is None


def test_a_result_of_another_version_is_left_alone(tmp_path: Path) -> None:
    for other in ({"schema": 2, "status": "ok"}, {"schema": 2}):
        (tmp_path / RESULT).write_text(json.dumps(other), encoding="utf-8")
        with pytest.raises(OccupiedError, match=r"result of another version \(schema 2, and not 1\)"):
            finished(tmp_path, {})
    for none in ('{"schema": 2, "status": "failed"}', '{"schema": 2', "[]", ""):
        (tmp_path / RESULT).write_text(none, encoding="utf-8")
        assert finished(tmp_path, {}) is None


def test_one_expert_by_name_is_a_configuration(tmp_path: Path) -> None:
    one = result()
    one["config"] = {**one.get("config", {}), "infusion": {"experts": "votes"}}
    (found_one,) = found(tmp_path, one)
    assert experts_of({"config": found_one[1]["config"]}) == ("votes",)
