"""Where the curves of a job's stages go, and its result: files, TensorBoard, Weights & Biases."""

from __future__ import annotations

import importlib.util
import netrc
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from mohone.core.config import CHOICES, Plain
from mohone.core.errors import not_installed, require_choice
from mohone.evaluation.settings import TESTED, settings_in

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger

Curve = Sequence[dict[str, float | None]]
CURVES = "curves"


class JobLogger:
    """One job's: opened before its stages, closed whatever happens. This one logs nothing.

    Attributes:
        is_open: may curves be logged now? A finished job that is opened again logs nothing.
    """

    is_open = False

    def open(self, folder: Path, config: Plain, sweep: str | None) -> None:
        """Begin.

        Args:
            folder: the job's.
            config: of the job.
            sweep: a name for all jobs of its sweep; None: it is alone.

        Raises:
            ConfigError: something to log with is not installed.
        """
        self.folder, self.config, self.sweep = folder, config, sweep
        self.is_open = True

    def curves(self, stage: str) -> Logger | None:  # noqa: ARG002
        """What Lightning logs a stage with; None: nothing."""
        return None

    def replay(self, stage: str, curve: Curve) -> None:
        """Log the curve of a stage that was not trained before our eyes: its figures step by step, from 1."""
        logger = self.curves(stage)
        if logger is None or not curve:
            return
        for step, figures in enumerate(curve, 1):
            logger.log_metrics({k: v for k, v in figures.items() if v is not None}, step=step)
        logger.save()
        logger.finalize("success")

    def close(self, result: Plain | None) -> None:  # noqa: ARG002
        """End, with the job's result if it ended well."""
        self.is_open = False


class CSVCurves(JobLogger):
    """`curves/STAGE/metrics.csv` in the job's folder."""

    def curves(self, stage: str) -> Logger:
        """A file of its own for each stage."""
        from pytorch_lightning.loggers import CSVLogger

        return CSVLogger(self.folder, name=CURVES, version=stage)


class TensorBoard(JobLogger):
    """Event files in `curves/STAGE` of the job's folder."""

    def open(self, folder: Path, config: Plain, sweep: str | None) -> None:
        """Begin, if it can."""
        super().open(folder, config, sweep)
        self.curves("check")  # Only to check: it writes no file before its first figure.

    def curves(self, stage: str) -> Logger:
        """A TensorBoard run for each stage."""
        from pytorch_lightning.loggers import TensorBoardLogger

        try:
            return TensorBoardLogger(self.folder, name=CURVES, version=stage)
        except ModuleNotFoundError:
            raise not_installed("tensorboardX", "tensorboard", "for logger=tensorboard") from None


class WeightsAndBiases(JobLogger):
    """One run a job, in its folder: a stage's curves under its name, figures before and after as summary.

    Args:
        project: its name.
        mode: `online`, `offline` or `disabled`; None: the environment's WANDB_MODE, else online where there
            is a key.
    """

    def __init__(self, project: str, mode: str | None = None) -> None:
        if mode is not None:
            require_choice("logger.mode", mode, ("online", "offline", "disabled"))
        self.project, self.mode = project, mode
        self._run: Any = None

    def open(self, folder: Path, config: Plain, sweep: str | None) -> None:
        """Start the run, named `MODEL-NETEMB-sSEED`, in the group of its sweep."""
        super().open(folder, config, sweep)
        own = {"id": uuid.uuid4().hex} if sweep else {}  # WANDB_RUN_ID is one for all jobs.
        names = config[CHOICES]
        infusion = "" if names["infusion"] in ("retrofit", "none") else f"-{names['infusion']}"
        self._run = _start_run(
            self.project,
            folder,
            self.mode,
            group=sweep,
            name=f"{names['kge_model']}-{names['netemb']}{infusion}-s{config['seed']}",
            tags=[names["dataset"], names["recipe"]],
            config=config,
            **own,
        )

    def curves(self, stage: str) -> Logger:
        """The run itself, under the stage's name, over the stage's own epochs."""
        from pytorch_lightning.loggers import WandbLogger

        self._run.define_metric(f"{stage}/*", step_metric=f"{stage}/epoch")
        logger = WandbLogger(experiment=self._run, prefix=stage)
        logger.LOGGER_JOIN_CHAR = "/"  # Curves are named `STAGE/...`.
        return logger

    def close(self, result: Plain | None) -> None:
        """Write summary and table, and finish the run: else the next job's figures would join it."""
        super().close(result)
        if self._run is None:
            return
        try:
            if result is not None:
                self._describe(result)
        finally:
            self._run.finish(exit_code=0 if result is not None else 1)
            self._run = None

    def _describe(self, result: Plain) -> None:
        wandb = _wandb()
        rows = _rows(result)
        self._run.summary.update(
            {f"{which}/{setting}/{metric}": value for which, setting, metric, value in rows}
        )
        table = wandb.Table(
            columns=["figure", "setting", "metric", "value"], data=[list(row) for row in rows]
        )
        self._run.log({"result": table, **_pictures(result)})


def log_picture(project: str, name: str, figure: Any, folder: Path) -> None:
    """Log a Matplotlib figure as a W&B run of its own, whose files lie in `folder`.

    Raises:
        ConfigError: wandb is not installed.
    """
    with _start_run(project, folder, name=name, job_type="figure") as run:
        run.log({name: _image(figure)})


def _image(figure: Any) -> Any:
    """A figure as W&B keeps one: in numbers, for of a figure it asks pyplot, which it does not import."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return _wandb().Image(np.asarray(canvas.buffer_rgba()))


def _start_run(project: str, folder: Path, mode: str | None = None, **described: Any) -> Any:
    """A quiet W&B run whose files lie in `folder`; `mode` as of `WeightsAndBiases`."""
    wandb = _wandb()
    settings = wandb.Settings(silent=True, console="off")
    chosen = mode or _usual_mode()
    return wandb.init(project=project, dir=folder, mode=chosen, settings=settings, **described)


def _wandb() -> Any:
    """The module, whose import takes a second."""
    try:
        import wandb
    except ImportError:
        raise not_installed("wandb", "wandb", "for logger=wandb") from None
    return wandb


def _usual_mode() -> str:
    """What the environment says, else online where there is a key."""
    return os.environ.get("WANDB_MODE") or ("online" if _has_key() else "offline")


def _has_key() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    host = urlsplit(os.environ.get("WANDB_BASE_URL") or "https://api.wandb.ai").hostname
    try:
        return netrc.netrc(os.environ.get("NETRC")).authenticators(host or "") is not None
    except (OSError, netrc.NetrcParseError):
        return False


def _pictures(result: Plain) -> dict[str, Any]:
    """The job's figures, where Matplotlib is installed."""
    from mohone.reporting.pictures.gains import degree_figure, distance_figure, grid_figure, relation_figure

    if importlib.util.find_spec("matplotlib") is None:
        return {}
    figures = {
        "gain by beta": grid_figure(result),
        "gain by degree": degree_figure(result),
        "gain by distance": distance_figure(result),
        "gain by relation": relation_figure(result),
    }
    return {name: _image(figure) for name, figure in figures.items() if figure is not None}


def _rows(result: Plain) -> list[tuple[str, str, str, float]]:
    """Baseline, infused, gain and p-value in each setting."""
    rows = []
    for setting in settings_in(result["baseline"]):
        for metric in TESTED:
            rows.append(("baseline", setting, metric, result["baseline"][setting][metric]))
            if result["infused"]:
                test = result["significance"][setting][metric]
                rows.append(("infused", setting, metric, result["infused"][setting][metric]))
                rows.append(("gain", setting, metric, test["delta"]))
                rows.append(("p_value", setting, metric, test["p_value"]))
    return rows
