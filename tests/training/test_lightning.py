"""The module and the data module under Lightning's own Trainer, as people use it who know Lightning alone."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.kge import TransE
from mohone.training import KvsAll, NegativeSampling, Objective, OneVsAll
from mohone.training.data_module import TripleDataModule
from mohone.training.fit import fit
from mohone.training.module import KGEModule
from tests.helpers.graphs import kg_of
from tests.helpers.training import new_transe, settings, trainer

OBJECTIVES = [NegativeSampling(8, filtered=True, corruption="uniform"), OneVsAll(n_candidates=20), KvsAll()]


class Batches(pl.Callback):
    """Notes each epoch's batches."""

    def __init__(self) -> None:
        self.seen: list[list[Any]] = []

    def on_train_epoch_start(self, *_: Any) -> None:
        self.seen.append([])

    def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        self.seen[-1].append(numbers(batch))


def numbers(batch: Any) -> Any:
    if isinstance(batch, torch.Tensor):
        return batch.tolist()
    return [numbers(each) for each in batch] if isinstance(batch, tuple | list) else batch


def plain_trainer(folder: Path, **arguments: Any) -> pl.Trainer:
    """Lightning's own, told nothing but where it may write and to be quiet."""
    quiet = dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary"), False)
    quiet["enable_checkpointing"] = False
    return pl.Trainer(default_root_dir=folder, accelerator="cpu", **{**quiet, **arguments})


def module_of(kg: KnowledgeGraph, objective: Objective, **changed: Any) -> KGEModule:
    queries = LinkPrediction(kg, "valid", ("filtered",)), LinkPrediction(kg, "test", ("filtered",))
    return KGEModule(new_transe(kg), settings(objective=objective, **changed), *queries)


def data_of(kg: KnowledgeGraph, objective: Objective) -> TripleDataModule:
    return TripleDataModule(kg, objective, 512, seed=0)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda each: type(each).__name__)
def test_each_epoch_has_batches_of_its_own_and_they_are_those_of_our_trainer(
    umls: KnowledgeGraph, objective: Objective, tmp_path: Path
) -> None:
    few = dataclasses.replace(umls, train=umls.train[::4])
    theirs, ours = Batches(), Batches()
    plain = plain_trainer(tmp_path, max_epochs=3, callbacks=[theirs])
    plain.fit(module_of(few, objective), datamodule=data_of(few, objective))
    fit(module_of(few, objective), data_of(few, objective), trainer, stage="test", callbacks=(ours,))
    assert len(theirs.seen) == 3
    assert all(theirs.seen)
    assert theirs.seen == ours.seen
    first, second, third = theirs.seen
    assert first != second != third != first


@pytest.mark.parametrize("kind", ["valid", "test"])
def test_validate_and_test_alone_give_the_mrr_of_link_prediction(
    umls: KnowledgeGraph, kind: str, tmp_path: Path
) -> None:
    module, data = module_of(umls, OBJECTIVES[0]), data_of(umls, OBJECTIVES[0])
    run = plain_trainer(tmp_path)
    (found,) = (run.validate if kind == "valid" else run.test)(module, datamodule=data, verbose=False)
    wanted = LinkPrediction(umls, kind, ("filtered",)).mrr(module.model)
    assert found == {f"{kind}/mrr": pytest.approx(wanted, abs=1e-7)}


def test_test_after_fit_is_of_the_trained_model(umls: KnowledgeGraph, tmp_path: Path) -> None:
    module, data = module_of(umls, OBJECTIVES[0]), data_of(umls, OBJECTIVES[0])
    before = LinkPrediction(umls, "test", ("filtered",)).mrr(module.model)
    run = plain_trainer(tmp_path, max_epochs=2)
    run.fit(module, datamodule=data)
    (found,) = run.test(module, datamodule=data, verbose=False)
    wanted = LinkPrediction(umls, "test", ("filtered",)).mrr(module.model)
    assert wanted > before
    assert found["test/mrr"] == pytest.approx(wanted, abs=1e-7)


def test_test_without_test_triples_is_refused(umls: KnowledgeGraph, tmp_path: Path) -> None:
    validation = LinkPrediction(umls, "valid", ("filtered",))
    module = KGEModule(new_transe(umls), settings(), validation)
    with pytest.raises(ConfigError, match="`test` of the module must be a LinkPrediction of the test trip"):
        plain_trainer(tmp_path).test(module, datamodule=data_of(umls, OBJECTIVES[0]))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda each: type(each).__name__)
def test_a_checkpoint_of_lightnings_is_loaded_as_data_and_gone_on_from(
    umls: KnowledgeGraph, objective: Objective, tmp_path: Path
) -> None:
    few = dataclasses.replace(umls, train=umls.train[::4])
    whole, half = module_of(few, objective), module_of(few, objective)
    plain_trainer(tmp_path, max_epochs=4).fit(whole, datamodule=data_of(few, objective))

    first = plain_trainer(tmp_path, max_epochs=4, callbacks=[_Stop(after=2)])
    first.fit(half, datamodule=data_of(few, objective))
    path = tmp_path / "half.ckpt"
    first.save_checkpoint(path)

    parts = {"model": new_transe(few), "training": half.settings, "validation": half.validation}
    read = KGEModule.load_from_checkpoint(path, weights_only=True, **parts)
    assert read.history == half.history
    assert len(read.history) == 2
    assert all(torch.equal(a, b) for a, b in zip(read.parameters(), half.parameters(), strict=True))

    batches = Batches()
    run = plain_trainer(tmp_path, max_epochs=4, callbacks=[batches])
    run.fit(read, datamodule=data_of(few, objective), ckpt_path=path, weights_only=True)
    assert len(batches.seen) == 2
    assert [each["epoch"] for each in read.history] == [1, 2, 3, 4]
    assert read.history == whole.history
    for mine, wanted in zip(read.parameters(), whole.parameters(), strict=True):
        assert torch.equal(mine, wanted)


class _Stop(pl.Callback):
    """Ends the training early."""

    def __init__(self, after: int) -> None:
        self.after = after

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        trainer.should_stop = trainer.current_epoch + 1 >= self.after


def test_an_objective_serves_two_graphs_at_once_in_any_order() -> None:
    """Filtered negatives are those of the graph whose batch it is, whatever was made or asked before."""
    objective, other = (NegativeSampling(50, filtered=True, in_batch=False) for _ in range(2))
    one = kg_of({"train": ["a r b", "a r c", "b r d"], "valid": ["a r d"], "test": ["b r c"]})
    two = kg_of({"train": ["a r d", "d r a", "c r b"], "valid": ["a r c"], "test": ["b r c"]})
    torch.manual_seed(0)
    model = TransE(4, 1, 4).double()

    def loss(by: Objective, order: list[Any]) -> float:
        return float(by.loss(model, order[0]))

    def batches(kg: KnowledgeGraph, by: Objective) -> list[Any]:
        return list(TripleDataModule(kg, by, 3, seed=0).epoch())

    wanted_one, wanted_two = (loss(objective, batches(kg, objective)) for kg in (one, two))
    assert wanted_one != wanted_two
    of_one, of_two = batches(one, other), batches(two, objective)
    again = batches(one, objective)
    assert loss(other, of_two) == loss(objective, of_two) == wanted_two
    assert loss(other, of_one) == loss(objective, again) == wanted_one
