"""A job that has ended, opened again: its data set and its models, for commands that use them."""

from __future__ import annotations

import copy
import logging
from dataclasses import dataclass, replace
from pathlib import Path

from mohone.configuration.compose import PATHS, check_keys
from mohone.core.config import Plain
from mohone.core.errors import ConfigError, DataError
from mohone.core.files import read_json
from mohone.core.runtime import prepare_process
from mohone.core.terminal import as_path
from mohone.data import KnowledgeGraph
from mohone.data.memory import OWN_DATA
from mohone.experiment.plan import Plan, make_plan
from mohone.experiment.pretrained import Pretrained
from mohone.experiment.stages.base import NOTES
from mohone.experiment.stages.runner import Runner
from mohone.experiment.store import StageStore
from mohone.experiment.trained import TrainedJob
from mohone.reporting.results import RESULT, changed_splits, read_finished

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FinishedJob(TrainedJob):
    """A job that has ended.

    Attributes:
        result: as it was written.
    """

    result: Plain

    @property
    def report(self) -> Plain:
        """As it was written: nothing is ranked again."""
        return self.result


def open_job(
    folder: Path, data: Path | None = None, store: Path | None = None, train: bool = True
) -> FinishedJob:
    """Open the job of a folder, only to be read: nothing is written but what has to be trained again.

    Args:
        folder: the job's.
        data: the folder of its data if they were moved; None: where they were.
        store: that of the stages, likewise.
        train: may stages be trained again that the store lacks or that are damaged? A warning says so before.

    Raises:
        DataError: the folder holds no job that ended well, or one of another data set or program; on reading
            a stage, what must not be trained again.
    """
    result = read_finished(folder)
    config = _config(folder, result, store)
    config = _as_now(config, data or _own_data(folder, config["dataset"]), store)
    prepare_process(config)
    plan = _plan(config, folder, result)
    runner = Runner(plan, _load(plan, data), _train_again if train else _refuse)
    _check_same(folder, result, runner)
    return FinishedJob(runner, result)


def _config(folder: Path, result: Plain, store: Path | None) -> Plain:
    """The configuration in a result, whose keys and groups are there."""
    config = result.get("config") or {}
    if store is None and not config.get("store_dir"):
        raise DataError(
            f"{folder} must be a job's own folder, but is a copy that knows no `store_dir`: name it by "
            "`--store`."
        )
    try:
        check_keys({**config, "store_dir": str(config.get("store_dir"))})
    except ConfigError as error:
        raise DataError(f"{folder / RESULT} must have the configuration of a job, but: {error}") from None
    return config


def _as_now(config: Plain, data: Path | None, store: Path | None) -> Plain:
    """The configuration of a job with the places where things are now, as this locale has paths."""
    out: Plain = copy.deepcopy(config)
    for dotted in PATHS:
        group, _, key = dotted.rpartition(".")
        node = out.get(group, {}) if group else out
        if isinstance(node.get(key), str):
            node[key] = as_path(node[key])
    if store is not None:
        out["store_dir"] = str(store.expanduser().absolute())
    if data is not None:
        place = _place_of_data(out["dataset"])
        if place is None:
            name = out["dataset"].get("name")
            raise DataError(f"`--data` must be left out with {name}, which has no folder, but is {data}.")
        out["dataset"][place] = str(data.expanduser().absolute())
    return out


def _own_data(folder: Path, dataset: Plain) -> Path | None:
    """The data that were kept in a job's folder, if that was moved."""
    there, own = dataset.get("path"), folder / OWN_DATA
    return own if isinstance(there, str) and not Path(there).is_dir() and own.is_dir() else None


def _place_of_data(dataset: Plain) -> str | None:
    """The key that says where the data are; None: they lie inside the package."""
    return next((key for key in ("path", "data_dir") if key in dataset), None)


def _plan(config: Plain, folder: Path, result: Plain) -> Plan:
    """The job's plan; vectors to begin with may be gone, for its stages are trained."""
    given = config["pretrained"]
    if not isinstance(given.get("file"), str) or Path(given["file"]).is_file():
        return make_plan(config, folder, trains=False)
    baseline = StageStore(Path(config["store_dir"])).place("baseline", result["stages"]["baseline"]["key"])
    try:
        digest = str(read_json(baseline / NOTES)["config"]["pretrained"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return make_plan(config, folder, trains=False)  # Which says that the file must be there.
    plan = make_plan({**config, "pretrained": {**given, "file": None}}, folder, trains=False)
    return replace(plan, pretrained=Pretrained(Path(given["file"]), given.get("frozen", True), digest))


def _load(plan: Plan, data: Path | None) -> KnowledgeGraph:
    try:
        kg: KnowledgeGraph = plan.dataset.load()
    except DataError as error:
        if data is not None or _place_of_data(plan.config["dataset"]) is None:
            raise
        raise DataError(
            f"{error} If the job's data lie elsewhere now, name their folder by `--data`."
        ) from None
    return kg


def _check_same(folder: Path, result: Plain, runner: Runner) -> None:
    """Is the job that of its result?"""
    if runner.kg.fingerprint != result["dataset"].get("fingerprint"):
        changed = changed_splits(result, runner.kg.fingerprints)
        what = f"{' and '.join(changed)} {'has' if len(changed) == 1 else 'have'}" if changed else "they have"
        raise DataError(f"{folder} must be a job on the data as they are now, but {what} changed since.")
    if runner.keys != {name: stage["key"] for name, stage in result["stages"].items()}:
        raise DataError(
            f"{folder} must be a job of its settings by this program, but its settings, `pretrained.file` or "
            "the program have changed since (the data have not)."
        )


def _train_again(stage: str, place: Path, fault: str) -> None:
    log.warning("%s: %s %s; it is trained again, before anything else is done", stage, place, fault)


def _refuse(stage: str, place: Path, fault: str) -> None:
    raise DataError(
        f"{place} must be the trained {stage}, but {fault}: without `--no-train` it is trained again."
    )
