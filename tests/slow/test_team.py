"""Processes that torchrun starts, as on two machines: they train as one does, and the first alone writes."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mohone.core.errors import ConfigError
from mohone.core.files import read_json
from mohone.experiment.trainers import TrainerFactory
from tests.helpers.commands import mohone
from tests.helpers.training import DDP

JOB = [
    "kge_model=complex",
    "dim=8",
    "training=negative_sampling",
    "training.in_batch=false",
    "training.max_epochs=3",
    "netemb=none",
    "progress=false",
]
TWO = ["trainer=ddp", "trainer.devices=1", "trainer.num_nodes=2", "training.shard_rows=true"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def on_two_machines(folder: Path, *arguments: str) -> list[str]:
    """What the two say, one after the other."""
    said = started_on_two(folder, *arguments)
    assert "FAILED" not in "".join(said), said
    return said


def started_on_two(folder: Path, *arguments: str) -> list[str]:
    """The same, however they end."""
    address = [f"--rdzv-endpoint=127.0.0.1:{free_port()}", "--rdzv-backend=c10d", "--rdzv-id=1"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1", *address]
    command = [*torchrun, "-m", "mohone.run", *JOB, *TWO, *arguments]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    place = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    both = [subprocess.Popen(command, cwd=folder, env=place, **pipes) for _ in range(2)]
    return [each.communicate(timeout=300)[0] for each in both]


def test_two_machines_train_as_one_process(tmp_path: Path) -> None:
    assert mohone(tmp_path, *JOB, "hydra.run.dir=one").returncode == 0
    said = on_two_machines(tmp_path, "hydra.run.dir=two")
    results = [read_json(tmp_path / name / "result.json") for name in ("one", "two")]
    one, two = (result["baseline"]["filtered"]["mrr"] for result in results)
    assert two == pytest.approx(one, abs=2e-3)
    assert results[1]["stages"]["baseline"]["key"] != results[0]["stages"]["baseline"]["key"]
    assert sum("link prediction on the test triples" in each for each in said) == 1  # The first speaks.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "outputs", "two"]


def test_two_machines_give_up(tmp_path: Path) -> None:
    asked = ["training.validate_every=1", "evaluation.must_reach=[[1,1.0]]"]
    said = on_two_machines(tmp_path, *asked, "hydra.run.dir=job")
    assert read_json(tmp_path / "job/result.json")["status"] == "stopped"
    assert "Traceback" not in "".join(said)
    assert sum("the training is given up." in each for each in said) == 1


def test_a_machine_that_dies_ends_the_job_in_a_sentence(tmp_path: Path) -> None:
    dies = f"{{_target_: tests.slow.test_sharded.Witness, folder: {tmp_path}, dies_in: 1}}"
    said = started_on_two(tmp_path, f"callbacks=[{dies}]", "hydra.run.dir=job")
    sentence = (
        r"^All processes of a training .* one died \(.* by peer.*\): the same command goes on .*kept\.$"
    )
    found = re.findall(sentence, "\n".join(said), re.MULTILINE)
    assert len(set(found)) == 1, said
    assert read_json(tmp_path / "job/result.json")["status"] == "failed"


def test_there_must_be_as_many_processes_as_the_trainer_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"`trainer.num_nodes` must be 1 where torchrun .* but is 2"):
        TrainerFactory({**DDP, "num_nodes": 2}, tmp_path)
    for name, value in (("TORCHELASTIC_RUN_ID", "1"), ("WORLD_SIZE", "3"), ("RANK", "0")):
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=r"must be the number of processes .* 3, but is 4"):
        TrainerFactory({**DDP, "devices": 2, "num_nodes": 2}, tmp_path)


def test_a_sweep_is_not_for_them(tmp_path: Path) -> None:
    launched = {"TORCHELASTIC_RUN_ID": "1", "WORLD_SIZE": "2", "RANK": "0"}
    ran = mohone(tmp_path, "-m", "seed=0,1", **launched)
    assert ran.returncode == 1
    assert ran.stderr.strip() == (
        "A sweep must be run without torchrun, whose processes run one job, but is not."
    )
