from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from mohone.data import KnowledgeGraph
from mohone.errors import ConfigError, TrainingError
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.kge import ComplEx, KGEModel, NegativeSampling, OneVsAll, Regime, TransE
from mohone.kge.fit import fit
from mohone.kge.module import FitSettings, KGEModule, TripleDataModule


def trainer(stage: str, **arguments: Any) -> pl.Trainer:  # noqa: ARG001
    return pl.Trainer(
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
        num_sanity_val_steps=0,
        **arguments,
    )


def settings(**changed: Any) -> FitSettings:
    usual = {"optimizer": "adam", "lr": 0.01, "schedule": "linear", "batch_size": 512}
    return FitSettings(**{**usual, "max_epochs": 3, "patience": 9, "validate_every": 1, **changed})


def train(
    graph: KnowledgeGraph, model: KGEModel, regime: Regime, chosen: FitSettings, **arguments: Any
) -> dict[str, Any]:
    torch.manual_seed(0)
    module = KGEModule(model, regime, LinkPrediction(graph, "valid", ("filtered",)), chosen)
    data = TripleDataModule(graph, regime, chosen.batch_size, seed=0)
    return fit(module, data, trainer, stage="test", **arguments)


def new_transe(graph: KnowledgeGraph) -> TransE:
    torch.manual_seed(1)
    return TransE(graph.n_entities, graph.n_relations, 16)


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize("regime", [NegativeSampling(64, 4.0), OneVsAll(inverse_temperature=4.0)])
def test_training_lowers_the_loss(umls: KnowledgeGraph, regime: Regime, optimizer: str) -> None:
    info = train(umls, new_transe(umls), regime, settings(optimizer=optimizer, lr=0.1))
    losses = [epoch["loss"] for epoch in info["history"]]
    assert losses[-1] < losses[0]
    assert info["valid_mrr"] == max(epoch["valid_mrr"] for epoch in info["history"])


def test_the_best_weights_are_kept(umls: KnowledgeGraph) -> None:
    model = new_transe(umls)
    info = train(umls, model, NegativeSampling(64, 4.0), settings(lr=3.0, max_epochs=12, schedule="constant"))
    scores = [epoch["valid_mrr"] for epoch in info["history"]]
    assert scores[-1] < max(scores)
    assert info["best_epoch"] == scores.index(max(scores)) + 1
    again = LinkPrediction(umls, "valid", ("filtered",)).mrr(model)
    assert again == pytest.approx(info["valid_mrr"], abs=1e-6)


def test_patience_counts_validations(umls: KnowledgeGraph) -> None:
    chosen = settings(lr=1e-9, max_epochs=50, validate_every=3, patience=2)
    info = train(umls, new_transe(umls), NegativeSampling(8), chosen)
    validated = [epoch["epoch"] for epoch in info["history"] if epoch["valid_mrr"] is not None]
    assert validated == [3, 6, 9][: len(validated)]
    assert len(info["history"]) == validated[-1] < 50


def test_a_rare_validation_happens_at_the_end(umls: KnowledgeGraph) -> None:
    info = train(umls, new_transe(umls), NegativeSampling(8), settings(max_epochs=2, validate_every=7))
    assert [epoch["valid_mrr"] is not None for epoch in info["history"]] == [False, True]


def test_the_last_epoch_is_validated(umls: KnowledgeGraph) -> None:
    info = train(umls, new_transe(umls), NegativeSampling(64, 4.0), settings(max_epochs=5, validate_every=2))
    assert [epoch["valid_mrr"] is not None for epoch in info["history"]] == [False, True, False, True, True]
    assert info["best_epoch"] == 5


def test_the_state_before_training_can_win(umls: KnowledgeGraph) -> None:
    model = new_transe(umls)
    train(umls, model, NegativeSampling(64, 4.0), settings(max_epochs=10))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    info = train(umls, model, NegativeSampling(64, 4.0), settings(lr=10.0, patience=1), from_start=True)
    assert info["best_epoch"] == 0
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_same_seed_same_weights(umls: KnowledgeGraph) -> None:
    one, other = new_transe(umls), new_transe(umls)
    for model in (one, other):
        train(umls, model, NegativeSampling(64, 4.0, dropout=0.1), settings())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("cls", [TransE, ComplEx])
@pytest.mark.parametrize("regime", [NegativeSampling(16), OneVsAll()])
def test_divergence_is_named(umls: KnowledgeGraph, cls: type[KGEModel], regime: Regime) -> None:
    model = cls(umls.n_entities, umls.n_relations, 8)
    with pytest.raises(
        TrainingError, match=r"The loss must be finite, but is \w+ in epoch \d|Scores must be finite"
    ):
        train(umls, model, regime, settings(optimizer="sgd", lr=1e20, schedule="constant", max_epochs=5))


def test_more_triples_in_a_batch_than_there_are(base: KnowledgeGraph) -> None:
    for regime in (NegativeSampling(512), OneVsAll()):
        info = train(base, TransE(4, 2, 4), regime, settings(batch_size=1000))
        assert len(info["history"]) == 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"optimizer": "adamw"}, "`training.optimizer` must be one of adam, adagrad, sgd, but is 'adamw'"),
        ({"lr": 0.0}, "`training.lr` must be > 0, but is 0"),
        ({"batch_size": 0}, "`training.batch_size` must be an integer >= 1, but is 0"),
        ({"patience": 1.5}, "`training.patience` must be an integer >= 1, but is 1.5"),
        ({"schedule": "cosine"}, "`training.schedule` must be one of constant, linear"),
    ],
)
def test_bad_settings_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        settings(**changed)
