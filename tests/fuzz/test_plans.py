"""Values of a configuration: a plan that could be begun, or one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohone.configuration.by_size import Size
from mohone.configuration.compose import absolute_paths, as_trained, check_keys, compose_plain
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.runner import Runner
from tests.helpers.fuzz import changed, outcome, tries
from tests.helpers.graphs import BASE, kg_of

JOBS = [
    "kge_model=transe",
    "kge_model=complex training=one_vs_all netemb=node2vec infusion=query",
    "kge_model=transr recipe=strong netemb=struct infusion=evidence",
    "kge_model=rescal training=k_vs_all infusion=retrain netemb=deepwalk dataset=fb15k237",
    "kge_model=distmult recipe=large netemb=none infusion=none dataset=folder dataset.path=/tmp",
]
KG = kg_of(BASE)


class Ready:
    """A data set that is at hand."""

    def load(self) -> Any:
        return KG


def begin(config: dict[str, Any], folder: Path) -> None:
    """What a job does before its first stage."""
    check_keys(config)
    plan = make_plan(as_trained(absolute_paths(config, folder), say=False), folder)
    plan = plan.at(Size.of(KG))
    runner = Runner(plan, KG)
    assert runner.keys
    runner.check()


@pytest.mark.parametrize("job", JOBS)
@tries(8, cost=10)
@given(draw=st.data())
def test_plans(tmp_path: Path, job: str, draw: st.DataObject) -> None:
    config = compose_plain([*job.split(), f"store_dir={tmp_path}"])
    changed_config = draw.draw(changed(config))
    outcome(lambda: begin(changed_config if isinstance(changed_config, dict) else {}, tmp_path))
