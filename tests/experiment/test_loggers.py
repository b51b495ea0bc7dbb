"""What loggers leave behind, read back: curves of each stage, and an offline W&B run with its result."""

import json
import re
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mohone.core.errors import ConfigError
from mohone.experiment.loggers import CSVCurves, WeightsAndBiases
from tests.helpers.commands import TINY, mohone, results

QUIET = {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false", "NETRC": "/nonexistent"}
BLOCK, HEADER = 32768, 7


def records(path: Path) -> Iterator[bytes]:
    """The records of a `.wandb` file: LevelDB's log format after seven bytes of W&B's own."""
    data = path.read_bytes()
    place, parts = HEADER, b""
    while place + HEADER <= len(data):
        left = BLOCK - place % BLOCK
        if left < HEADER:
            place += left
            continue
        _, length, kind = struct.unpack("<IHB", data[place : place + HEADER])
        parts += data[place + HEADER : place + HEADER + length]
        place += HEADER + length
        if kind in (1, 4):  # Whole, or the last of its parts.
            yield parts
            parts = b""


def read_run(path: Path, patience: float = 30.0) -> dict[str, Any]:
    """Name, group, configuration, curves and summary of an offline run.

    W&B's own process may write the end of the file some milliseconds after the run is finished.
    """
    end = time.monotonic() + patience
    while "exit_code" not in (run := _read_run(path)) and time.monotonic() < end:
        time.sleep(0.05)
    return run


def _read_run(path: Path) -> dict[str, Any]:
    pb = pytest.importorskip("wandb.proto.wandb_internal_pb2")
    run: dict[str, Any] = {"history": [], "summary": {}, "config": {}}
    for data in records(path):
        record = pb.Record.FromString(data)
        kind = record.WhichOneof("record_type")
        if kind == "run" and record.run.display_name:
            run |= {"name": record.run.display_name, "group": record.run.run_group}
            run["tags"] = list(record.run.tags)
            run["config"] |= {u.key: json.loads(u.value_json) for u in record.run.config.update if u.key}
        elif kind == "history":
            row = {i.key or "/".join(i.nested_key): json.loads(i.value_json) for i in record.history.item}
            run["history"].append(row)
        elif kind == "summary":
            for item in record.summary.update:
                run["summary"][item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
        elif kind == "exit":
            run["exit_code"] = record.exit.exit_code
    return run


def curve(run: dict[str, Any], name: str) -> list[float]:
    return [row[name] for row in run["history"] if name in row]


def assert_the_dashboard_finds_all_it_shows_in(run: dict[str, Any]) -> None:
    pytest.importorskip("wandb_workspaces")
    from wandb_dashboard import CURVES, dashboard

    view = dashboard("entity", "project", str(run["group"]))
    spec = view._to_model().model_dump_json(by_alias=True)
    for key in set(re.findall(r'"summary_metrics\.([^"]+)"', spec)):
        assert key in run["summary"], key
    for key in set(re.findall(r'"config:([\w.]+)\.value"', spec)):
        node = run["config"]
        for part in key.split("."):
            node = node[part]
    for key in CURVES:
        assert curve(run, key), key
        assert key in spec
    assert str(run["group"]) in spec


def test_a_sweep_leaves_an_offline_run_for_each_job(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    sweep = ["-m", "kge_model=transe,distmult", "logger=wandb", "hydra.sweep.dir=sweeps/mine", *TINY]
    ran = mohone(tmp_path, *sweep, **QUIET, WANDB_RUN_ID="one-for-all")
    assert ran.returncode == 0, ran.stderr
    paths = sorted(tmp_path.glob("sweeps/mine/*/wandb/offline-run-*/*.wandb"))
    runs = [read_run(path) for path in paths]
    assert len({path.name for path in paths} - {"run-one-for-all.wandb"}) == 2
    assert [run["name"] for run in runs] == ["transe-shnb-s0", "distmult-shnb-s0"]
    assert_the_dashboard_finds_all_it_shows_in(runs[0])
    for run, job in zip(runs, results(tmp_path), strict=True):
        assert run["group"] == "sweeps/mine"
        assert set(run["tags"]) == {"umls", "default"}
        assert run["exit_code"] == 0
        assert run["config"]["choices"]["kge_model"] == job["kge_model"]
        for which in ("baseline", "infused"):
            assert run["summary"][f"{which}/typed/mrr"] == pytest.approx(job[which]["typed"]["mrr"])
        gain = job["significance"]["filtered"]["hits@10"]["delta"]
        assert run["summary"]["gain/filtered/hits@10"] == pytest.approx(gain)
        assert len(curve(run, "netemb/train/loss")) == len(curve(runs[0], "netemb/train/loss")) > 0
        assert len(curve(run, "baseline/train/loss")) == 2
        assert curve(run, "baseline/epoch")
        assert max(curve(run, "baseline/valid/mrr")) == pytest.approx(job["stages"]["baseline"]["valid_mrr"])
        assert any(key.startswith("result") for row in run["history"] for key in row)
        objective = curve(run, "retrofit/objective")
        assert len(objective) == (11 if job["selection"]["beta"] else 0)


def test_each_stage_has_its_curves_as_files_also_if_it_was_trained_before(tmp_path: Path) -> None:
    for folder in ("first", "again"):
        ran = mohone(tmp_path, *TINY, f"hydra.run.dir={folder}")
        assert ran.returncode == 0, ran.stderr
        curves = {path.parent.name: path.read_text() for path in (tmp_path / folder).rglob("metrics.csv")}
        assert {"netemb", "baseline", "infusion", "retrofit"} == set(curves)
        assert curves["retrofit"].startswith("epoch,objective")
    first, again = (
        {path.parent.name: path.read_text().split("\n")[0] for path in (tmp_path / f).rglob("metrics.csv")}
        for f in ("first", "again")
    )
    for stage, header in again.items():
        assert set(header.split(",")) <= set(first[stage].split(",")) | {"epoch", "step"}


def test_tensorboard_has_a_run_for_each_stage(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    ran = mohone(tmp_path, "logger=tensorboard", *TINY, "hydra.run.dir=here")
    assert ran.returncode == 0, ran.stderr
    stages = {path.parent.name for path in (tmp_path / "here/curves").rglob("events.out.tfevents.*")}
    assert stages == {"netemb", "baseline", "infusion", "retrofit"}


def test_what_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    groups = ("kge_model", "netemb", "infusion", "dataset", "recipe")
    config: dict[str, Any] = {"choices": dict.fromkeys(groups, "any"), "seed": 0}
    with pytest.raises(
        ConfigError, match=r"`wandb` must be installed \(extra `wandb`\) for logger=wandb, but"
    ):
        WeightsAndBiases("mohone").open(tmp_path, config, None)
    with pytest.raises(
        ConfigError, match=r"`logger.mode` must be one of online, offline, disabled, but is 'loud'\."
    ):
        WeightsAndBiases("mohone", mode="loud")


def test_replayed_curves_have_their_steps(tmp_path: Path) -> None:
    logger = CSVCurves()
    logger.open(tmp_path, {}, None)
    logger.replay("netemb", [{"epoch": 1, "train/loss": 2.0}, {"epoch": 2, "train/loss": 1.0, "x": None}])
    lines = (tmp_path / "curves/netemb/metrics.csv").read_text().splitlines()
    assert sorted(lines[0].split(",")) == ["epoch", "step", "train/loss"]
    assert len(lines) == 3
