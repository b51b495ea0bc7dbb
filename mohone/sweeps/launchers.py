"""Launchers of sweeps: which extra has each, and what is said when one loses a job."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

from omegaconf import DictConfig

from mohone.core.errors import ConfigError, first_line

_EXTRAS = {
    "hydra_plugins.hydra_joblib_launcher": "parallel",
    "hydra_plugins.hydra_submitit_launcher": "slurm",
    "hydra_plugins.hydra_ray_launcher": "ray",
}
# Where the exceptions of workers that ended without a word come from.
_WORKERS = ("submitit", "ray", "joblib", "concurrent")
# That a plugin's own settings of the same name check a file of ours, as they should: not in workers either.
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/\w+' is validated against ConfigStore schema")


def require_launcher(config: DictConfig) -> None:
    """Refuse a launcher that is not installed.

    Args:
        config: of the multirun, with Hydra's own.

    Raises:
        ConfigError: it names the extra.
    """
    target = str(config.hydra.launcher.get("_target_", ""))
    for package, extra in _EXTRAS.items():
        if target.startswith(f"{package}.") and find_spec(package) is None:
            name = config.hydra.runtime.choices["hydra/launcher"]
            raise ConfigError(
                f"`hydra/launcher` must be one that is installed, but {name} is not: "
                f"pip install 'mohone[{extra}]'."
            )


def lost_job(error: BaseException) -> str | None:
    """A sentence for an exception of a launcher whose worker was killed or cut off; None: it is another."""
    if type(error).__module__.partition(".")[0] not in _WORKERS:
        return None
    return f"A job of the sweep was lost ({type(error).__name__}: {first_line(error)})."
