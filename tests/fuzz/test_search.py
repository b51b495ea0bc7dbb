"""The journal of a search: trials that it could have, or one sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohone.experiment.validation import Validation
from mohone.sweeps.journal import MUST_REACH, open_study
from mohone.sweeps.pruning import Course, least_of, note_course
from tests.helpers.fuzz import Refused, changed, mutated, outcome, tries

optuna = pytest.importorskip("optuna")
SPACE = {
    "lr": optuna.distributions.FloatDistribution(0.01, 1.0, log=True),
    "n3": optuna.distributions.CategoricalDistribution((0.0, 0.1)),
}


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Of a search with trials that ended well, failed, were given up and were begun."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path = tmp_path_factory.mktemp("journal") / "search.log"
    study = open_study(path, len(SPACE))
    study.add_trial(optuna.create_trial(params={"lr": 0.1, "n3": 0.0}, distributions=SPACE, value=0.5))
    study.tell(study.ask(SPACE).number, state=optuna.trial.TrialState.FAIL)
    given_up = study.ask(SPACE)
    given_up.set_user_attr(MUST_REACH, [[10, 0.4]])
    note_course(study, given_up.number, Course({10: 0.3}, 10))
    study.tell(given_up.number, state=optuna.trial.TrialState.PRUNED)
    study.ask(SPACE)
    return path.read_bytes()


def other_values(journal: bytes) -> st.SearchStrategy[bytes]:
    steps = [json.loads(line) for line in journal.splitlines()]
    return changed(steps).map(
        lambda value: "".join(
            f"{json.dumps(step)}\n" for step in (value if isinstance(value, list) else [value])
        ).encode()
    )


@tries(40)
@given(draw=st.data())
def test_journals(tmp_path: Path, journal: bytes, draw: st.DataObject) -> None:
    path = tmp_path / "search.log"
    path.write_bytes(draw.draw(mutated(journal) | other_values(journal)))
    study = outcome(lambda: open_study(path, len(SPACE)), path)
    if isinstance(study, Refused) or not study.trials or study.trials[0].distributions != SPACE:
        return
    assert math.isfinite(study.best_value)
    assert study.ask(SPACE).params.keys() == SPACE.keys()
    for least in (least_of(study.trials), *(trial.user_attrs.get(MUST_REACH, []) for trial in study.trials)):
        assert Validation.from_config({"must_reach": least}).must_reach is not None
