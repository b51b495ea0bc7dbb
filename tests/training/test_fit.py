import dataclasses
from functools import partial
from typing import Any

import pytest
import torch
from hydra.utils import get_class
from omegaconf import OmegaConf

from mohone.core.errors import ConfigError, TrainingError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.kge import RESCAL, ComplEx, KGEModel, TransD, TransE, TransR
from mohone.training import KvsAll, NegativeSampling, Objective, OneVsAll
from mohone.training.data_module import TripleDataModule
from mohone.training.fit import fit
from mohone.training.module import KGEModule
from mohone.training.objective import Share
from tests.helpers.configured import files
from tests.helpers.graphs import kg_of
from tests.helpers.training import new_transe, settings, train, trainer

ALL: list[type[KGEModel]] = [get_class(OmegaConf.load(path)["_target_"]) for path in files("kge_model")]


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize(
    "objective",
    [
        NegativeSampling(64, inverse_temperature=4.0),
        NegativeSampling(64, loss="margin", in_batch=False),
        NegativeSampling(64, loss="logistic", corruption="uniform"),
        NegativeSampling(64, loss="self_adversarial", corruption="bernoulli", filtered=True),
        OneVsAll(inverse_temperature=4.0),
        KvsAll(inverse_temperature=4.0, relation_block=50),
        KvsAll("logistic"),
    ],
    ids=lambda objective: f"{type(objective).__name__}-{getattr(objective, 'loss_name', '')}",
)
def test_training_lowers_the_loss(umls: KnowledgeGraph, objective: Objective, optimizer: str) -> None:
    info = train(umls, new_transe(umls), objective, settings(optimizer=optimizer, lr=0.1))
    losses = [epoch["loss"] for epoch in info["history"]]
    assert losses[-1] < losses[0]
    assert info["valid_mrr"] == max(epoch["valid_mrr"] for epoch in info["history"])


def test_the_best_weights_are_kept(umls: KnowledgeGraph) -> None:
    model = new_transe(umls)
    info = train(
        umls,
        model,
        NegativeSampling(64, inverse_temperature=4.0),
        settings(lr=3.0, max_epochs=12, schedule="constant"),
    )
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
    info = train(
        umls,
        new_transe(umls),
        NegativeSampling(64, inverse_temperature=4.0),
        settings(max_epochs=5, validate_every=2),
    )
    assert [epoch["valid_mrr"] is not None for epoch in info["history"]] == [False, True, False, True, True]
    assert info["best_epoch"] == 5


def test_the_state_before_training_can_win(umls: KnowledgeGraph) -> None:
    model = new_transe(umls)
    train(umls, model, NegativeSampling(64, inverse_temperature=4.0), settings(max_epochs=10))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    info = train(
        umls,
        model,
        NegativeSampling(64, inverse_temperature=4.0),
        settings(lr=10.0, patience=1),
        from_start=True,
    )
    assert info["best_epoch"] == 0
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_same_seed_same_weights(umls: KnowledgeGraph) -> None:
    one, other = new_transe(umls), new_transe(umls)
    for model in (one, other):
        train(umls, model, NegativeSampling(64, inverse_temperature=4.0, dropout=0.1), settings())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("objective", [NegativeSampling(16), OneVsAll(), KvsAll("logistic")])
def test_divergence_is_named(umls: KnowledgeGraph, cls: type[KGEModel], objective: Objective) -> None:
    model = cls(umls.n_entities, umls.n_relations, 8)
    with pytest.raises(
        TrainingError,
        match=r"^(The loss must be finite and below 1e\+10, but is \S+ in epoch \d"
        r"|Scores must be finite.* after epoch \d, whose loss is \S+): lower the learning rate, 1e\+20",
    ):
        train(umls, model, objective, settings(optimizer="sgd", lr=1e20, schedule="constant", max_epochs=5))


@pytest.mark.parametrize("rare", [{}, {"validate_every": 2, "max_epochs": 3}])
def test_scores_that_diverge_name_epoch_loss_and_rate(
    umls: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, rare: dict[str, int]
) -> None:
    def late(self: TransE, *arguments: torch.Tensor) -> torch.Tensor:
        return torch.full((len(arguments[0]), self.n_entities), torch.nan)

    epoch = 2 if rare else 1
    monkeypatch.setattr(TransE, "score_tails", late)
    with pytest.raises(
        TrainingError,
        match=rf"^Scores must be finite, but .* after epoch {epoch}, whose loss is [\d.]+: lower .* 0\.01 ",
    ):
        train(umls, new_transe(umls), NegativeSampling(16), settings(**rare))


def test_more_triples_in_a_batch_than_there_are(base: KnowledgeGraph) -> None:
    for objective in (NegativeSampling(512), OneVsAll(), KvsAll()):
        info = train(base, TransE(4, 2, 4), objective, settings(batch_size=1000))
        assert len(info["history"]) == 3


@pytest.mark.parametrize("objective", [NegativeSampling(3), OneVsAll(), KvsAll(relation_block=50)])
def test_a_last_batch_of_one(base: KnowledgeGraph, objective: Objective) -> None:
    n = len(objective.examples(base).epoch(1, torch.Generator(), Share()))
    info = train(base, TransE(4, 2, 4), objective, settings(batch_size=n - 1))
    assert len(info["history"]) == 3


@pytest.mark.parametrize("cls", ALL)
def test_every_model_trains_with_one_relation(cls: type[KGEModel]) -> None:
    kg = kg_of({"train": ["a r b", "b r c", "c r d", "d r a"], "valid": ["a r c"], "test": ["b r d"]})
    info = train(kg, cls(4, 1, 4), OneVsAll(relation_block=50), settings(batch_size=3))
    assert len(info["history"]) == 3


def test_negatives_that_are_all_right_answers_are_said_and_survived(caplog: pytest.LogCaptureFixture) -> None:
    every = [f"{h} r {t}" for h in "abc" for t in "abc"]
    kg = kg_of({"train": every, "valid": ["a r b"], "test": ["b r c"]})
    for loss in ("softmax", "margin", "logistic", "self_adversarial"):
        caplog.clear()
        objective = NegativeSampling(8, loss=loss, filtered=True)
        info = train(kg, TransE(3, 1, 4), objective, settings(batch_size=4))
        assert len(info["history"]) == 3
        assert "3 tail queries have no negative: all entities are right answers." in caplog.text


def test_transr_on_hold_is_transe(umls: KnowledgeGraph) -> None:
    torch.manual_seed(2)
    simple = TransE(umls.n_entities, umls.n_relations, 8)
    model = TransR(umls.n_entities, umls.n_relations, 8)
    model.entity.data.copy_(simple.entity.data)
    model.relation.data.copy_(simple.relation.data)
    objective = OneVsAll(inverse_temperature=4.0)
    train(umls, simple, objective, settings(max_epochs=2))
    train(umls, model, objective, settings(max_epochs=2, warmup_epochs=2))
    torch.testing.assert_close(model.entity, simple.entity)
    assert not model.projection.any()
    train(umls, model, objective, settings(max_epochs=3, warmup_epochs=2))
    assert model.projection.any()
    assert not model.warming_up


def test_the_norm_is_held(umls: KnowledgeGraph) -> None:
    model = TransE(umls.n_entities, umls.n_relations, 8, max_norm=1.0)
    train(umls, model, NegativeSampling(16), settings(lr=0.5))
    lengths = model.entity.detach().norm(dim=1)
    assert lengths.max() <= 1 + 1e-5
    assert lengths.min() > 0.1
    frozen = TransE(3, 1, 4, max_norm=0.1)
    frozen.entity.requires_grad_(False)
    before = frozen.entity.clone()
    frozen.constrain()
    assert torch.equal(before, frozen.entity)


@pytest.mark.parametrize("cls", [TransE, TransD, ComplEx, RESCAL])
def test_low_precision_trains_and_is_evaluated_in_full(umls: KnowledgeGraph, cls: type[KGEModel]) -> None:
    torch.manual_seed(1)
    model = cls(umls.n_entities, umls.n_relations, 16)
    objective = OneVsAll(inverse_temperature=4.0)
    chosen = settings(max_epochs=6, lr=0.02, objective=objective)
    module = KGEModule(model, chosen, LinkPrediction(umls, "valid", ("filtered",)))
    data = TripleDataModule(umls, objective, chosen.fit.batch_size, seed=0)
    info = fit(module, data, partial(trainer, precision="bf16-mixed"), stage="test")
    assert info["history"][-1]["loss"] < info["history"][0]["loss"]
    again = LinkPrediction(umls, "valid", ("filtered",)).mrr(model)
    assert again == pytest.approx(info["valid_mrr"], abs=1e-9)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lr": 0.0}, "`training.lr` must be > 0, but is 0"),
        ({"batch_size": 0}, "`training.batch_size` must be an integer >= 1, but is 0"),
        ({"patience": 1.5}, "`training.patience` must be an integer >= 1, but is 1.5"),
        ({"warmup_epochs": -1}, "`training.warmup_epochs` must be an integer >= 0, but is -1"),
    ],
)
def test_bad_settings_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        settings(**changed)


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize("model", [TransD, RESCAL, ComplEx])
def test_sparse_gradients_train_the_same_model(
    umls: KnowledgeGraph, model: type[KGEModel], optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    objective = NegativeSampling(2, l2=1e-3, in_batch=False)
    chosen = settings(max_epochs=1, batch_size=3, optimizer=optimizer)
    few = dataclasses.replace(umls, train=umls.train[::50])
    trained, seen = [], []

    def noted(module: KGEModule, optimizer: object) -> None:
        seen.append(
            any(table.grad is not None and table.grad.is_sparse for table in module.model.parameters())
        )
        densify(module, optimizer)  # type: ignore[arg-type]

    densify = KGEModule.on_before_optimizer_step
    monkeypatch.setattr(KGEModule, "on_before_optimizer_step", noted)
    for rarely in (1, 10**9):  # Sparse wherever rows are fewer than the table's; never.
        monkeypatch.setattr("mohone.kge.tables._FEW", rarely)
        torch.manual_seed(3)
        net = model(umls.n_entities, umls.n_relations, 8)
        train(few, net, objective, chosen)
        trained.append(net)
    assert seen[0]
    assert not seen[-1]
    for sparse, dense in zip(*(net.parameters() for net in trained), strict=True):
        torch.testing.assert_close(sparse, dense, atol=1e-5, rtol=1e-4)
