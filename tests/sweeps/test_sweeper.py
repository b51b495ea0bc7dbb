"""A sweeper that optimises reads what jobs return: the last model's validation MRR; NaN if it failed."""

import json
import math
from pathlib import Path

import pytest

from tests.helpers.commands import TINY, mohone_process, results

ROOT = Path(__file__).parents[2]
# Hydra finds a sweeper in the package `hydra_plugins`, wherever that is on the path. This one tries what no
# job can be, the two ends of an interval, and what lies between its middle and the better end.
SWEEPER = """
import json
import math
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper


class ToySweeper(Sweeper):
    def __init__(self, notes):
        self.notes = notes

    def setup(self, *, hydra_context, task_function, config):
        self.config = config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments):
        each = OverridesParser.create().parse_overrides(arguments)
        (found,) = [override for override in each if override.is_sweep_override()]
        self.key, interval = found.get_key_element(), found.value()
        self.fixed = [a for a in arguments if not a.startswith(self.key)]
        low, high = interval.start, interval.end
        self.tried = []
        self.try_one(-1.0)
        ends = {low: self.try_one(low), high: self.try_one(high)}
        middle = math.sqrt(low * high)
        self.try_one(math.sqrt(max(ends, key=ends.get) * middle))
        path = Path(self.config.hydra.sweep.dir) / self.notes
        path.write_text(json.dumps(self.tried))

    def try_one(self, value):
        job = [*self.fixed, f"{self.key}={value}"]
        (ended,) = self.launcher.launch([job], initial_job_idx=len(self.tried))
        self.tried.append((value, ended.return_value))
        return ended.return_value
"""


@pytest.fixture
def plugged(tmp_path: Path) -> Path:
    for name, text in {
        "plugins/hydra_plugins/toy_sweeper.py": SWEEPER,
        "conf/hydra/sweeper/toy.yaml": "_target_: hydra_plugins.toy_sweeper.ToySweeper\nnotes: tried.json",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_sweeper_optimises_the_returned_validation_mrr(plugged: Path) -> None:
    chosen = ["--config-dir", "conf", "hydra/sweeper=toy", "training.lr=interval(0.0001, 0.1)"]
    ran = mohone_process(plugged, "-m", *chosen, *TINY, "hydra.sweep.dir=sweep", PYTHONPATH=f"{ROOT}:plugins")
    tried = json.loads((plugged / "sweep/tried.json").read_text())
    assert [rate for rate, _ in tried[:3]] == [-1.0, 0.0001, 0.1]
    assert math.isnan(tried[0][1])
    _, low, high = (mrr for _, mrr in tried[:3])
    assert low != high
    better = 0.0001 if low > high else 0.1
    assert tried[3][0] == pytest.approx(math.sqrt(better * math.sqrt(0.0001 * 0.1)))

    jobs = {job["config"]["training"]["optimizer"]["lr"]: job for job in results(plugged / "sweep")}
    assert [jobs[rate]["status"] for rate, _ in tried] == ["failed", "ok", "ok", "ok"]
    for rate, returned in tried[1:]:
        assert returned == jobs[rate]["valid_mrr"] == jobs[rate]["selection"]["valid_mrr_infused"]
    assert ran.returncode == 1  # A job failed.
    assert "sweep: 4 of ? jobs ended, 1 of them failed" in ran.stdout
    assert "`training.lr` must be > 0, but is -1." in ran.stderr
