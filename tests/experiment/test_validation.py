"""How much of validation is ranked, and what of that a stage's key and notes say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mohone.configuration.compose import compose_plain
from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.experiment.plan import make_plan
from mohone.experiment.stages import Runner
from mohone.experiment.validation import Validation
from tests.helpers.commands import TINY


def a_runner(kg: KnowledgeGraph, folder: Path, *settings: str) -> Runner:
    config = compose_plain([*TINY[:3], f"store_dir={folder}", "infusion=none", "netemb=none", *settings])
    return Runner(make_plan(config, folder), kg)


def test_only_very_large_data_are_sampled_unless_asked_for() -> None:
    def kg(n_valid: int, n_entities: int) -> KnowledgeGraph:
        return SimpleNamespace(valid=torch.empty(n_valid, 3), n_entities=n_entities)  # type: ignore[return-value]

    for small in (kg(17_535, 14_541), kg(3_034, 40_943), kg(5_000, 123_182)):
        assert Validation().at(small) == Validation()
    assert Validation().at(kg(5_163, 4_594_485)) == Validation(10_000)
    assert Validation(20_000).at(kg(5_163, 4_594_485)) == Validation()
    assert Validation(100, 50).at(kg(51, 51)) == Validation(100, 50)
    assert Validation(102, 51).at(kg(51, 51)) == Validation()


def test_a_key_says_what_is_drawn_and_else_is_as_before(umls: KnowledgeGraph, tmp_path: Path) -> None:
    n = 2 * len(umls.valid)
    usual, every, some, fewer, compared = (
        a_runner(umls, tmp_path, *settings).baseline.config
        for settings in (
            (),
            (f"evaluation.valid_queries={n}", f"evaluation.valid_candidates={umls.n_entities}"),
            ("evaluation.valid_queries=100",),
            ("evaluation.valid_queries=99",),
            ("evaluation.valid_candidates=9",),
        )
    )
    assert usual == every
    assert "evaluation" not in usual
    assert some == {**usual, "evaluation": {"valid_queries": 100, "valid_candidates": None}}
    assert compared == {**usual, "evaluation": {"valid_queries": None, "valid_candidates": 9}}
    assert some != fewer


def test_an_earlier_job_has_no_such_group(umls: KnowledgeGraph, tmp_path: Path) -> None:
    config = compose_plain([*TINY[:5], f"store_dir={tmp_path}"])
    before = {key: value for key, value in config.items() if key != "evaluation"}
    assert Runner(make_plan(before, tmp_path), umls).keys == Runner(make_plan(config, tmp_path), umls).keys


def test_notes_tell_the_sample_and_its_interval(umls: KnowledgeGraph, tmp_path: Path) -> None:
    settings = ("evaluation.valid_queries=300", "evaluation.valid_candidates=40")
    runner = a_runner(umls, tmp_path, *settings)
    trained = runner.run(runner.baseline)
    model = runner.read(runner.baseline)
    truth = LinkPrediction(umls, "valid", ("filtered",)).mrr(model)
    notes = trained.notes
    assert (notes["valid_queries"], notes["valid_queries_of"]) == (300, 2 * len(umls.valid))
    assert notes["valid_candidates"] == 40
    assert notes["valid_mrr_low"] < notes["valid_mrr"] < notes["valid_mrr_high"]
    assert notes["valid_mrr"] == pytest.approx(runner.validation.mrr(model))
    assert abs(notes["valid_mrr"] - truth) < 2 * (notes["valid_mrr_high"] - notes["valid_mrr_low"])
    assert runner.watch.mrr(model) == pytest.approx(max(each["valid_mrr"] for each in notes["history"]))
    shuffled = replace(umls, train=umls.train[torch.randperm(len(umls.train))])
    again = a_runner(shuffled, tmp_path / "other", *settings)
    assert torch.equal(again.validation._queries, runner.validation._queries)


def test_what_cannot_be_is_refused() -> None:
    for values in ({"valid_queries": 1}, {"valid_queries": "many"}, {"valid_candidates": 0}):
        with pytest.raises(ConfigError, match=r"`evaluation\.valid_"):
            Validation.from_config(values)
