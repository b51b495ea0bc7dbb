"""A training in parts is the training at once (of two epochs, then four; killed, then gone on with)."""

from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.kge import KGEModel, TransR
from mohone.training import NegativeSampling, Objective, OneVsAll
from mohone.training import resume as module
from tests.helpers.training import settings, train

OBJECTIVES: list[Objective] = [NegativeSampling(64, dropout=0.2), OneVsAll(dropout=0.2, n_candidates=40)]


BAD: dict[str, Any] = {"max_epochs": 9, "schedule": "constant", "lr": 0.5, "patience": 1}


class KilledError(Exception):
    pass


class Killer(pl.Callback):
    """Breaks a training off in the middle of an epoch."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        if trainer.current_epoch == self.epoch:
            raise KilledError


def new(kg: KnowledgeGraph) -> KGEModel:
    torch.manual_seed(7)
    return TransR(kg.n_entities, kg.n_relations, 8)


def what(info: dict[str, Any]) -> dict[str, Any]:
    """Of a training, what does not depend on its parts."""
    return {key: info[key] for key in ("best_epoch", "valid_mrr", "history")}


def assert_same(model: KGEModel, other: KGEModel) -> None:
    for name, table in model.state_dict().items():
        assert torch.equal(table, other.state_dict()[name]), name


@pytest.mark.parametrize(
    ("objective", "schedule"), list(zip(OBJECTIVES, ["linear", "constant"], strict=True))
)
def test_a_killed_training_goes_on(
    umls: KnowledgeGraph, tmp_path: Path, objective: Objective, schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_FILES", 0.0)
    chosen = settings(max_epochs=4, schedule=schedule, warmup_epochs=1, patience=2)
    whole, parts = new(umls), new(umls)
    wanted = train(umls, whole, objective, chosen)
    path = tmp_path / "p.ckpt"
    for epoch in (1, 1, 3):  # In the second epoch, again there, and in the last.
        with pytest.raises(KilledError):
            train(umls, parts, objective, chosen, progress=path, callbacks=(Killer(epoch),))
        parts = new(umls)
    assert torch.load(path, weights_only=True)["epoch"] == 2
    found = train(umls, parts, objective, chosen, progress=path)
    assert what(found) == what(wanted)
    assert_same(parts, whole)
    assert path.exists() == (schedule == "constant")
    assert not list(tmp_path.glob("*.part*"))


def test_a_callback_may_keep_checkpoints_of_its_own(umls: KnowledgeGraph, tmp_path: Path) -> None:
    theirs = pl.callbacks.ModelCheckpoint(tmp_path / "theirs", monitor="valid/mrr", mode="max")
    train(umls, new(umls), OBJECTIVES[0], settings(), progress=tmp_path / "p.ckpt", callbacks=(theirs,))
    (kept,) = (tmp_path / "theirs").iterdir()
    assert "state_dict" in torch.load(kept, weights_only=True)


def test_what_lightning_refuses_is_told_in_a_sentence(umls: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="`trainer` and `callbacks` must suit Lightning, but: Cannot use "):
        train(umls, new(umls), OBJECTIVES[0], settings(), callbacks=(pl.callbacks.LearningRateMonitor(),))


def test_two_epochs_then_four_are_four(umls: KnowledgeGraph, tmp_path: Path) -> None:
    at_once, longer = new(umls), new(umls)
    four = settings(max_epochs=4, schedule="constant")
    wanted = train(umls, at_once, OBJECTIVES[0], four)
    path = tmp_path / "p.ckpt"
    first = train(umls, new(umls), OBJECTIVES[0], settings(max_epochs=2, schedule="constant"), progress=path)
    assert first["history"] == wanted["history"][:2]

    class Counter(pl.Callback):
        epochs: list[int] = []  # noqa: RUF012

        def on_train_epoch_start(self, trainer: pl.Trainer, *_: Any) -> None:
            self.epochs.append(trainer.current_epoch)

    found = train(umls, longer, OBJECTIVES[0], four, progress=path, callbacks=(Counter(),))
    assert Counter.epochs == [2, 3]
    assert what(found) == what(wanted)
    assert_same(longer, at_once)
    assert (first["resumed_after"], found["resumed_after"]) == (0, 2)
    assert found["seconds_before"] > 0
    # A shorter one cannot use it, starts anew, and leaves it to longer ones.
    two = settings(max_epochs=2, schedule="constant")
    assert what(train(umls, new(umls), OBJECTIVES[0], two, progress=path)) == what(first)
    assert module.progress_in(path)[0] == 4


@pytest.mark.parametrize("content", [b"", b"half of something", b"garbage", b"PK\x03\x04", b"\x80\x02"])
def test_a_file_that_is_no_state_is_passed_over(umls: KnowledgeGraph, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.ckpt"
    path.write_bytes(content)
    info = train(umls, new(umls), OBJECTIVES[0], settings(max_epochs=1), progress=path)
    assert len(info["history"]) == 1
    assert module.progress_in(None) == module.progress_in(tmp_path / "none") == (0, 0.0)


def test_a_state_with_another_bit_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "p.ckpt"
    state = {"epoch": 4, "state_dict": {"_extra_state": {"seconds": 2.5}, "w": torch.full((9,), 0.5)}}
    torch.save(state, path)
    assert module.progress_in(path) == (5, 2.5)
    data = path.read_bytes()
    place = data.index(torch.full((9,), 0.5).numpy().tobytes())
    path.write_bytes(data[:place] + b"\1" + data[place + 1 :])
    assert module.progress_in(path) == (0, 0.0)
    assert "p.ckpt is damaged (the checksum of " in caplog.text


def test_a_training_that_had_ended_ends_with_its_best_weights(umls: KnowledgeGraph, tmp_path: Path) -> None:
    bad = settings(**BAD)
    path = tmp_path / "p.ckpt"
    wanted, again = new(umls), new(umls)
    info = train(umls, wanted, OBJECTIVES[0], bad, progress=path)
    assert info["best_epoch"] < len(info["history"])  # Else the last weights are the best.
    whole = settings(**{**BAD, "max_epochs": len(info["history"])})
    assert what(train(umls, again, OBJECTIVES[0], whole, progress=path)) == what(info)
    assert_same(again, wanted)


def test_early_stopping_counts_over_the_parts(
    umls: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_FILES", 0.0)
    bad = settings(**BAD)
    wanted = train(umls, new(umls), OBJECTIVES[0], bad)
    path = tmp_path / "p.ckpt"
    n_epochs = len(wanted["history"])
    assert 1 < n_epochs < 9
    with pytest.raises(KilledError):
        train(umls, new(umls), OBJECTIVES[0], bad, progress=path, callbacks=(Killer(n_epochs - 1),))
    found = train(umls, new(umls), OBJECTIVES[0], bad, progress=path)
    assert what(found) == what(wanted)
    longer = settings(**{**BAD, "max_epochs": 20})
    again = train(umls, new(umls), OBJECTIVES[0], longer, progress=path)
    assert what(again) == what(train(umls, new(umls), OBJECTIVES[0], longer)) == what(wanted)
