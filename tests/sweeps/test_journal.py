"""The journal of a search: whatever a kill leaves of it, the same trials are drawn."""

import json
from pathlib import Path
from typing import Any

import pytest

from mohone.core.errors import DataError
from mohone.sweeps.journal import open_study

optuna = pytest.importorskip("optuna")
SPACE = {
    "lr": optuna.distributions.FloatDistribution(0.01, 1.0, log=True),
    "n3": optuna.distributions.CategoricalDistribution((0.0, 0.1)),
}


def go_on(path: Path, n_trials: int = 3) -> list[dict[str, Any]]:
    """What a search does, of jobs whose value is their number."""
    study = open_study(path, len(SPACE))
    if not study.trials:
        first = {"lr": 0.1, "n3": 0.0}
        study.add_trial(optuna.create_trial(params=first, distributions=SPACE, value=0.5))
    while True:
        running = [trial.number for trial in study.trials if trial.state.name == "RUNNING"]
        if not running and len(study.trials) == n_trials:
            return [trial.params for trial in study.trials]
        study.sampler = optuna.samplers.TPESampler(seed=len(study.trials))
        number = running[0] if running else study.ask(SPACE).number
        study.tell(number, float(number))


def test_a_journal_that_is_cut_anywhere_comes_to_the_same_trials(tmp_path: Path) -> None:
    whole = tmp_path / "whole.log"
    wanted = go_on(whole)
    data, path = whole.read_bytes(), tmp_path / "cut.log"
    ends = [i for i, byte in enumerate(data) if byte == ord("\n")]
    for cut in (0, *(end + step for end in ends for step in (-9, 1))):
        path.write_bytes(data[:cut])
        assert go_on(path) == wanted, cut


def steps_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("number", "change", "said"),
    [
        (0, {"directions": [1]}, "the best value is not the highest"),
        (1, {"value": None}, "trial 0 is none of a search"),
        (1, {"state": 4}, "trial 0 is none of a search"),
        (1, {"study_id": "x"}, "trial 0 is none of a search"),
        (3, {"param_name": "dim"}, "trial 1 is none of a search"),
        (5, {"values": ["x"]}, "trial 1 is none of a search"),
    ],
)
def test_steps_that_no_search_takes_are_refused(
    tmp_path: Path, number: int, change: dict[str, Any], said: str
) -> None:
    path = tmp_path / "search.log"
    go_on(path)
    steps = steps_of(path)
    steps[number] |= change
    path.write_text("".join(f"{json.dumps(step)}\n" for step in steps))
    with pytest.raises(DataError) as refused:
        open_study(path, len(SPACE))
    assert str(refused.value).startswith(f"{path} must be the journal of a search, but is damaged (")
    assert said in str(refused.value)
    assert refused.value.__cause__ is not None
