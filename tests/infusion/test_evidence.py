"""Evidence behind the contract of infusions: fitted, read back, told in parts and in words."""

import json
from typing import Any

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.sample import Sample
from mohone.evidence.model import EvidenceModel
from mohone.infusion import NetworkSpace
from mohone.infusion.base import Notes
from mohone.infusion.evidence import Evidence
from mohone.kge import KGEModel
from tests.helpers.training import OBJECTIVE, new_transe, settings, train


class NoRetraining:
    """Evidence trains nothing."""

    inverse_temperature = 4.0

    def __call__(self, *_: Any, **__: Any) -> Notes:
        raise AssertionError


@pytest.fixture(scope="module")
def space(umls: KnowledgeGraph) -> NetworkSpace:
    from mohone.graph.network import Network

    torch.manual_seed(3)
    network = Network.from_triples(umls.train, umls.n_entities)
    return NetworkSpace(network, torch.randn(umls.n_entities, 8))


@pytest.fixture(scope="module")
def baseline(umls: KnowledgeGraph) -> KGEModel:
    model = new_transe(umls)
    train(umls, model, OBJECTIVE, settings(max_epochs=4))
    return model


@pytest.fixture(scope="module")
def infused(umls: KnowledgeGraph, baseline: KGEModel, space: NetworkSpace) -> tuple[EvidenceModel, Notes]:
    validation = LinkPrediction(umls, "valid", ("filtered",))
    model, notes = Evidence(neighbors=5).fit(baseline, space, validation, NoRetraining())
    assert isinstance(model, EvidenceModel)
    return model, notes


def test_validation_gains_and_test_gains(
    umls: KnowledgeGraph, baseline: KGEModel, infused: tuple[EvidenceModel, Notes]
) -> None:
    model, notes = infused
    selection = notes["selection"]
    assert selection["kept"]
    assert notes["valid_mrr"] == max(selection["cross_validated_mrr"].values())
    assert selection["queries_fitted_on"] + selection["queries_left_out"] == 2 * len(umls.valid)
    valid, test = (LinkPrediction(umls, split, ("filtered",)) for split in ("valid", "test"))
    assert selection["valid_mrr_baseline"] == pytest.approx(valid.mrr(baseline), abs=1e-9)
    assert test.mrr(model) > test.mrr(baseline) + 0.02
    json.dumps(notes, allow_nan=False)  # Notes are plain data.


def test_what_validation_is_told_is_of_the_queries_that_it_asks(
    umls: KnowledgeGraph, baseline: KGEModel, space: NetworkSpace
) -> None:
    validation = LinkPrediction(umls, "valid", ("filtered",), sample=Sample(301, seed=2))
    _, notes = Evidence(["frequency", "paths"]).fit(baseline, space, validation, NoRetraining())
    selection = notes["selection"]
    assert selection["queries_fitted_on"] + selection["queries_left_out"] == 301
    assert selection["valid_mrr_baseline"] == pytest.approx(validation.mrr(baseline), abs=1e-9)


def test_a_fit_on_train_tells_the_mrr_of_validation(
    umls: KnowledgeGraph, baseline: KGEModel, space: NetworkSpace
) -> None:
    validation = LinkPrediction(umls, "valid", ("filtered",))
    evidence = Evidence(["frequency", "paths"], fit_on="train")
    model, notes = evidence.fit(baseline, space, validation, NoRetraining())
    assert notes["selection"]["valid_mrr_baseline"] == validation.mrr(baseline)
    assert notes["valid_mrr"] == notes["selection"]["valid_mrr_infused"] == validation.mrr(model)


def test_it_is_read_back_without_learning_again(
    umls: KnowledgeGraph, infused: tuple[EvidenceModel, Notes], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, notes = infused
    monkeypatch.setattr("mohone.evidence.expert.Expert.fit", lambda *_: pytest.fail("learned again"))
    again = Evidence(neighbors=5).rebuild(new_transe(umls), json.loads(json.dumps(notes)), umls)
    again.load_state_dict(model.state_dict())
    head, relation, tail = umls.test[:40].T
    assert torch.equal(again.score_tails(head, relation), model.score_tails(head, relation))
    assert torch.equal(again.score_heads(relation, tail), model.score_heads(relation, tail))
    assert Evidence().parts(again).keys() == {"frequency"}


def test_a_part_of_the_gain_is_the_frequency_of_answers(
    umls: KnowledgeGraph, baseline: KGEModel, space: NetworkSpace, infused: tuple[EvidenceModel, Notes]
) -> None:
    validation = LinkPrediction(umls, "valid", ("filtered",))
    alone, notes = Evidence(["frequency"]).fit(baseline, space, validation, NoRetraining())
    assert Evidence(["frequency"]).is_control
    assert Evidence().parts(alone) == {}
    (part,) = Evidence().parts(infused[0]).values()
    head, relation, _ = umls.test[:40].T
    torch.testing.assert_close(part.score_tails(head, relation), alone.score_tails(head, relation))
    told = infused[1]["selection"]["parts"]["frequency"]["cross_validated_mrr"]
    assert told == notes["selection"]["cross_validated_mrr"]


def test_it_says_why(umls: KnowledgeGraph, infused: tuple[EvidenceModel, Notes]) -> None:
    model, _ = infused
    told = []
    for head, relation, tail in umls.test[:20].tolist():
        lines = Evidence().why(model, umls, "tail", (head, relation), tail)
        score = float(model.score_triples(*torch.tensor([[head], [relation], [tail]])))
        assert lines[0].endswith("the model")
        assert sum(float(line.split()[0]) for line in lines) == pytest.approx(score, abs=0.01)
        told += lines
    assert any(" -" in line and "confidence" in line for line in told)  # A path by its names.
    assert any("has this answer" in line for line in told)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"experts": ["vote"]}, r"`infusion.experts` must be one of votes, .*, but is 'vote'\."),
        ({"experts": []}, r"`infusion.experts` must have a value, but is empty\."),
        ({"neighbors": 0}, r"`infusion.neighbors` must be an integer >= 1, but is 0\."),
        ({"weights": "all"}, r"`infusion.weights` must be one of even, cosine, but is 'all'\."),
        ({"first": "query"}, r"`infusion.first` must be one of none, retrofit, but is 'query'\."),
        ({"fit_on": "test"}, r"`infusion.fit_on` must be one of valid, train, but is 'test'\."),
        ({"folds": 1}, r"`infusion.folds` must be an integer >= 2, but is 1\."),
    ],
)
def test_bad_values_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Evidence(**changed)


def test_one_value_stands_for_a_list_of_it() -> None:
    assert [expert.name for expert in Evidence("votes").new_experts()] == ["votes"]
    assert Evidence("frequency").is_control
    (heat,) = Evidence("heat", scales=0.5).new_experts()
    assert heat.values == ("heat_0.5",)


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({}, True),
        ({"random": True}, False),
        ({"random": True, "first": "retrofit"}, True),
        ({"experts": ["frequency", "paths", "heat"]}, False),
        ({"experts": ["frequency"], "first": "retrofit"}, True),
        ({"experts": ["answers"]}, True),
    ],
)
def test_an_embedding_is_needed_where_someone_asks_neighbours(
    options: dict[str, Any], needed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = Evidence(**options)
    assert evidence.needs_embedding == needed
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    if needed:
        with pytest.raises(ConfigError, match="faiss"):
            evidence.check(4_600_000, 1)
    else:
        evidence.check(4_600_000, 1)
