"""The result file of a job: its head, its failed form, reading it back; and the ranks beside it."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from mohone import __version__
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import DataError, OccupiedError
from mohone.core.files import read_json, replacing, write_json
from mohone.core.terminal import typed
from mohone.reporting.datasets import Results, name_apart
from mohone.reporting.differences import differences
from mohone.reporting.folders import files_named, pass_over
from mohone.reporting.shape import has_figures, is_failed

if TYPE_CHECKING:  # Help and typos need no torch.
    from mohone.evaluation.ranks import Ranks

RESULT = "result.json"
RANKS = "ranks.npz"
SCHEMA = 1
_UNFINISHED = {
    "failed": "failed",
    "interrupted": "was interrupted (its command goes on)",
    "stopped": "was stopped, since its validation MRR was too low (`evaluation.must_reach`)",
}
STATUSES = ("ok", *_UNFINISHED)
LEVEL = 0.05  # Of significance, for the star.
_HEAD = ("status", "error", "dataset", "kge_model", "netemb", "infusion", "training", "recipe", "seed")
_BODY = ("baseline", "infused", "significance", "selection", "stages")  # Of a job that ended well.
_NAMED = ("kge_model", "netemb", "infusion", "training", "recipe")  # By the choice of their group.
_PACKAGES = ("torch", "pytorch-lightning", "hydra-core", "omegaconf", "numpy", "scipy")


def describe_job(config: Plain, status: str, error: str | None = None) -> Plain:
    """The head of a result: which cell of which table it is, and how it ended.

    Args:
        config: the job's.
        status: one of `STATUSES`.
        error: the traceback of a job that did not end well, or a sentence.
    """
    choices = config.get(CHOICES, {})
    names = {group: str(choices.get(group)) for group in _NAMED}
    return {
        "schema": SCHEMA,
        "status": status,
        "error": error,
        "dataset": {"name": _dataset_name(config)},
        **names,
        "seed": config.get("seed"),
    }


def _dataset_name(config: Plain) -> str:
    """What the data set is called, which its group says, or its folder, or else the group's choice."""
    node = config.get("dataset")
    node = node if isinstance(node, dict) else {}
    return str(
        node.get("name")
        or typed(PurePath(str(node.get("path") or "")).name)
        or config.get(CHOICES, {}).get("dataset")
    )


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    return {
        "mohone": __version__,
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in _PACKAGES},
    }


def write_failed(folder: Path, config: Plain, error: str, status: str = "failed", **more: Any) -> None:
    """Write the result of a job that did not come to its end, of whatever configuration."""
    config = _json_ready(config)
    write_json(folder / RESULT, {**describe_job(config, status, error), **more, "config": config})


def has_result(folder: Path) -> bool:
    """Does it hold the result of a job that ended well? A failed one may be tried again."""
    result = read_result(folder / RESULT)
    return result is not None and result["status"] == "ok"


def finished(
    folder: Path,
    keys: dict[str, str],
    config: Plain | None = None,
    fingerprints: Mapping[str, str] | None = None,
) -> Plain | None:
    """The result of this very job if its folder holds one, that of a sweep that is gone on with.

    Args:
        folder: the job's.
        keys: of all its stages.
        config: of the job, to say what differs in another's.
        fingerprints: of its data's splits, for the same.

    Raises:
        OccupiedError: it holds another job's.
    """
    result = read_result(folder / RESULT)
    if result is None:
        _refuse_unknown(folder)
    if result is None or result["status"] != "ok":
        return None
    if {name: stage["key"] for name, stage in result["stages"].items()} != keys:
        changed = changed_splits(result, fingerprints or {})
        why = "" if config is None else f" ({differences(result.get('config', {}), config, changed)})"
        raise OccupiedError(
            f"The folder of a job must be a new one or the same job's, but {folder} holds another's "
            f"result{why}: name another folder, or delete this one."
        )
    return result


def _refuse_unknown(folder: Path) -> None:
    """Leave the result of a job of another version alone; what is no JSON is nobody's."""
    try:
        found = read_json(folder / RESULT)
    except (ValueError, OSError):
        return
    if isinstance(found, dict) and "schema" in found and found.get("status", "ok") == "ok":
        raise OccupiedError(
            f"The folder of a job must be a new one or the same job's, but {folder} holds a result of "
            f"another version (schema {found['schema']!r}, and not {SCHEMA}): name another folder, or "
            "delete this one."
        )


def changed_splits(result: Plain, fingerprints: Mapping[str, str]) -> list[str]:
    """The splits whose data are others than those of a result; none where it is of before they were noted."""
    before = result["dataset"].get("fingerprints", {})
    return [split for split, digest in before.items() if fingerprints.get(split, digest) != digest]


def _json_ready(value: Any) -> Any:
    """The same with numbers that JSON does not know (NaN, infinity) as texts."""
    if isinstance(value, dict):
        return {key: _json_ready(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json_ready(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def read_results(folders: list[Path]) -> Results:
    """All results at or below the folders, also by links, in the order of their paths, numbers by value.

    Files of that name that are no results are passed over, with a line on stderr. Where several data sets
    have one name, the results' names tell them apart.
    """
    found = []
    for path in files_named(RESULT, folders):
        result = read_result(path)
        if result is not None:
            found.append((path, result))
        else:
            pass_over(path, "is no result of this program")
    return name_apart(found)


def read_result(path: Path) -> Plain | None:
    """A result file; None where the file is not there, or is none."""
    try:
        result = read_json(path)
    except (ValueError, OSError):
        return None
    return result if _is_result(result) else None


def read_finished(folder: Path) -> Plain:
    """The result of a job that ended well.

    Raises:
        DataError: the folder holds none.
    """
    path = folder / RESULT
    if not path.is_file():
        raise DataError(f"{folder} must be the folder of a job, but has no {RESULT}.")
    result = read_result(path)
    if result is None:
        raise DataError(f"{path} must be a result of this program, but is none.")
    if result["status"] != "ok":
        ended = _UNFINISHED[result["status"]]
        raise DataError(f"{folder} must be the folder of a job that ended well, but that one {ended}.")
    return result


def _is_result(value: Any) -> bool:
    """Has it what tables need? Whole files of another make have not."""
    if not isinstance(value, dict) or not all(key in value for key in _HEAD) or value.get("schema") != SCHEMA:
        return False
    if value["status"] == "ok":
        return all(key in value for key in _BODY) and has_figures(value)
    return value["status"] in STATUSES and is_failed(value)


def write_ranks(folder: Path, ranks: dict[str, dict[str, Ranks]]) -> None:
    """Keep the rank of each test query, tails first, beside the result, as `MODEL/SETTING` in `ranks.npz`."""
    arrays = {
        f"{model}/{setting}": each.mean.numpy().astype(np.float32)
        for model, settings in ranks.items()
        for setting, each in settings.items()
    }
    with replacing(folder / RANKS) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_ranks(folder: Path, model: str, setting: str) -> np.ndarray | None:
    """What `write_ranks` kept: `(2 n_test,)` float64; None where it is not there.

    A damaged file is passed over, with a line on stderr.
    """
    path = folder / RANKS
    try:
        with np.load(path) as arrays:
            ranks = np.asarray(arrays[f"{model}/{setting}"], np.float64)
        if ranks.ndim == 1 and bool((ranks >= 1).all()):
            return ranks
    except (FileNotFoundError, KeyError):
        return None
    except Exception:  # NumPy, zipfile and zlib have one each for every kind of damage.
        pass_over(path, "cannot be read")
        return None
    pass_over(path, "must hold ranks, but does not,")
    return None


def is_gain(test: Plain) -> bool:
    """A gain that chance does not explain."""
    return bool(test["delta"] > 0 and test["p_value"] < LEVEL)
