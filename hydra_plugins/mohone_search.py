"""Where Hydra looks for sweepers; the search itself stands in `mohone/sweeps/search.py`."""

from __future__ import annotations

from typing import Any

from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf


class Search(Sweeper):
    """A search for the settings of the best validation MRR, by Optuna.

    Args:
        n_trials: jobs, the first of which has the settings that are there without a search.
        n_jobs: of them side by side, with a launcher that can.
        prune: is a trial given up whose validations lag behind those of the trials before it?
        spaces: for each family of models the keys that are searched, and where, in Hydra's words for sweeps.
    """

    def __init__(self, n_trials: int, n_jobs: int, prune: bool, spaces: DictConfig) -> None:
        self.n_trials, self.n_jobs, self.prune, self.spaces = n_trials, n_jobs, prune, spaces

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Make the launcher of jobs."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Run the search; `arguments` are the overrides that were typed."""
        from mohone.sweeps.search import Jobs, run_search  # Hydra imports this file for every command.

        spaces = OmegaConf.to_container(self.spaces)
        return run_search(
            Jobs(self.launcher, self.config, self.n_jobs, self.prune), arguments, spaces, self.n_trials
        )
