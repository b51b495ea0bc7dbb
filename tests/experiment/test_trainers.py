"""The Trainers of stages: several processes, devices, what is refused."""

from pathlib import Path

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.experiment.trainers import TrainerFactory
from tests.helpers.training import DDP, LIGHTNING


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"strategy": "ddp"}, "`trainer.strategy` must be a ddp_spawn one with 2 devices, but is 'ddp'"),
        ({"devices": "auto"}, "`trainer.devices` must be an integer >= 1, but is 'auto'"),
        ({"precision": "bf16mixed"}, "`trainer.precision` must be one of 32-true, .* but is 'bf16mixed'"),
        ({"precision": "16-true"}, "`trainer.precision` must be one of 32-true, .* but is '16-true'"),
        ({"max_epochs": 3}, "`trainer.max_epochs` must be left out, for stages set their own, but is set"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainerFactory({**DDP, **changed}, tmp_path)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said(tmp_path: Path) -> None:
    trainers = TrainerFactory({"_target_": LIGHTNING, "accelerator": "gpu", "devices": 1}, tmp_path)
    with pytest.raises(ConfigError, match="must be cpu where there is no GPU"):
        trainers.check()


def test_what_lightning_refuses_is_said_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`trainer` must suit Lightning's Trainer, but: "):
        TrainerFactory({"_target_": LIGHTNING, "accelerator": "cpu", "no_such": 1}, tmp_path).check()
