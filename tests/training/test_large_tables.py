"""Tables too large for a step that passes over all of them: only the rows of a batch are touched."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.kge import ComplEx, KGEModel, TransE, tables
from mohone.training import NegativeSampling, OneVsAll, Training, resume
from mohone.training import settings as settings_module
from tests.helpers.graphs import kg_of
from tests.helpers.training import settings, train

OBJECTIVES = [NegativeSampling(4, in_batch=False, n3=0.01), OneVsAll(4, n_candidates=4, n3=0.01)]


class Gradients(pl.Callback):
    """Notes which layout the entity table's gradients have when the optimiser sees them."""

    def __init__(self) -> None:
        self.sparse: set[bool] = set()

    def on_before_zero_grad(self, trainer: pl.Trainer, pl_module: Any, *_: Any) -> None:  # noqa: ARG002
        gradient = pl_module.model.entity.grad
        if gradient is not None:
            self.sparse.add(gradient.is_sparse)


def new(kg: KnowledgeGraph) -> KGEModel:
    torch.manual_seed(7)
    return ComplEx(kg.n_entities, kg.n_relations, 8, reciprocal=True)


def chosen(**changed: Any) -> Training:
    return settings(**{"optimizer": "adagrad", "lr": 0.1, "batch_size": 5, "max_epochs": 2, **changed})


@pytest.fixture(scope="module")
def many() -> KnowledgeGraph:
    """Two hundred entities, few of which are in a batch."""
    lines = [f"e{i} r{i % 3} e{(7 * i + 1) % 200}" for i in range(200)]
    return kg_of({"train": lines[:150], "valid": lines[150:175], "test": lines[175:]})


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tables are large, but those of relations are not looked up sparsely."""
    monkeypatch.setattr(tables, "LARGE", 100)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=["sampled", "one_vs_all"])
@pytest.mark.parametrize("optimizer", ["adagrad", "sgd"])
def test_steps_by_row_are_steps_of_the_table(
    many: KnowledgeGraph, objective: Any, optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dense, rows, seen = new(many), new(many), Gradients()
    wanted = train(many, dense, objective, chosen(optimizer=optimizer))
    monkeypatch.setattr(tables, "LARGE", 100)
    found = train(many, rows, objective, chosen(optimizer=optimizer), callbacks=(seen,))
    assert seen.sparse == {True}
    for one, other in zip(wanted["history"], found["history"], strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-3)
    torch.testing.assert_close(rows.entity_vectors, dense.entity_vectors, rtol=0, atol=2e-3)


@pytest.mark.usefixtures("large")
def test_other_optimisers_get_all_rows_and_it_is_said(
    many: KnowledgeGraph, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Gradients()
    with caplog.at_level(logging.WARNING, settings_module.__name__):
        train(many, new(many), OBJECTIVES[0], chosen(optimizer="adam", max_epochs=1), callbacks=(seen,))
    assert seen.sparse == {False}
    assert "Each step moves all 3,200 numbers of a table" in caplog.text


def test_weight_decay_and_momentum_move_all_rows() -> None:
    decayed = Training(OBJECTIVES[0], partial(torch.optim.Adagrad, lr=0.1, weight_decay=0.1))
    pushed = Training(OBJECTIVES[0], partial(torch.optim.SGD, lr=0.1, momentum=0.9))
    plain = Training(OBJECTIVES[0], partial(torch.optim.SGD, lr=0.1, momentum=0.0))
    assert [each.by_row for each in (decayed, pushed, plain, Training(OBJECTIVES[0]))] == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.usefixtures("large")
def test_only_moved_vectors_are_shortened(many: KnowledgeGraph) -> None:
    model = TransE(many.n_entities, many.n_relations, 8, max_norm=0.5)
    before = model.entity_vectors.clone()
    with model.sparse_gradients():
        model.score_pairs(
            model.tail_query(torch.tensor([3]), torch.tensor([0])), torch.tensor([5])
        ).sum().backward()
    model.constrain()
    moved = (model.entity_vectors != before).any(1).nonzero().flatten().tolist()
    assert moved == [3, 5]
    assert float(model.entity_vectors[[3, 5]].norm(dim=1).max()) <= 0.5 + 1e-6


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("schedule", ["linear", "constant"])
def test_the_best_weights_lie_on_the_disk(
    many: KnowledgeGraph, tmp_path: Path, schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "_SECONDS_BETWEEN_FILES", 0.0)
    how = chosen(lr=3.0, max_epochs=4, schedule=schedule)
    whole, parts = new(many), new(many)
    wanted = train(many, whole, OBJECTIVES[0], how)  # No file: the best weights stay in memory.
    path = tmp_path / "p.ckpt"

    class Killer(pl.Callback):
        def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
            if trainer.current_epoch == 2:
                assert path.with_suffix(".best").exists()
                raise InterruptedError

    with pytest.raises(InterruptedError):
        train(many, new(many), OBJECTIVES[0], how, progress=path, callbacks=(Killer(),))
    assert not torch.load(path, weights_only=True)["callbacks"]["BestWeights"]["weights"]
    found = train(many, parts, OBJECTIVES[0], how, progress=path)
    assert found["history"] == wanted["history"]
    assert found["best_epoch"] == wanted["best_epoch"] < 4  # Else the last weights are the best.
    assert torch.equal(parts.entity_vectors, whole.entity_vectors)
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left == ([] if schedule == "linear" else ["p.best", "p.ckpt"])


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "another's": lambda path: torch.save({"entity": torch.ones(3, 3)}, path),
    "no weights": lambda path: torch.save([3], path),
    "folder": lambda path: (path.unlink(), path.mkdir(), (path / "x").touch()),
}


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("name", ["p.best", "p.ckpt"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_training_without_its_best_weights_or_state_begins_anew(
    many: KnowledgeGraph,
    tmp_path: Path,
    name: str,
    damage: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else it would end with the last weights for the best ones, or with a traceback after its last epoch."""
    how, path = chosen(max_epochs=2, schedule="constant"), tmp_path / "p.ckpt"
    wanted, again = new(many), new(many)
    falling = iter([0.5, 0.4] * 2)  # Else the last weights may be the best.
    monkeypatch.setattr(
        LinkPrediction,
        "reciprocal_ranks",
        lambda *_: torch.tensor([next(falling), 1.0], dtype=torch.float64),
    )
    first = train(many, wanted, OBJECTIVES[0], how, progress=path)
    assert first["best_epoch"] == 1
    DAMAGE[damage](tmp_path / name)
    found = train(many, again, OBJECTIVES[0], how, progress=path)
    assert found["resumed_after"] == 0
    assert (found["history"], found["best_epoch"]) == (first["history"], first["best_epoch"])
    assert torch.equal(again.entity_vectors, wanted.entity_vectors)
    assert name == "p.ckpt" or f"{path} cannot be gone on from (p.best, its best weights, " in caplog.text
    third = train(many, new(many), OBJECTIVES[0], how, progress=path)
    assert third["resumed_after"] == 2


@pytest.mark.parametrize("key", ["callbacks", "loops", "optimizer_states", "lr_schedulers"])
def test_a_state_of_another_program_is_not_gone_on_from(
    many: KnowledgeGraph, tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    how, path = chosen(max_epochs=1, schedule="constant"), tmp_path / "p.ckpt"
    first = train(many, new(many), OBJECTIVES[0], how, progress=path)
    state = torch.load(path, weights_only=True)
    del state[key]
    torch.save(state, path)
    found = train(many, new(many), OBJECTIVES[0], how, progress=path)
    assert (found["resumed_after"], found["history"]) == (0, first["history"])
    assert f"{path} cannot be gone on from (it has no {key}): the training begins anew" in caplog.text
