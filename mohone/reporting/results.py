"""The result file of a job: its head, its failed form, reading it back; and the ranks beside it."""

from __future__ import annotations

import math
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mohone import __version__
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import DataError, OccupiedError
from mohone.core.files import read_json, replacing, write_json

if TYPE_CHECKING:  # Help and typos need no torch.
    from mohone.evaluation.ranks import Ranks

RESULT = "result.json"
RANKS = "ranks.npz"
SCHEMA = 1
LEVEL = 0.05  # Of significance, for the star.
CONTROL = "retrain"  # The infusion that moves nothing.
_PACKAGES = ("torch", "pytorch-lightning", "hydra-core", "omegaconf", "numpy", "scipy")


def describe_job(config: Plain, status: str, error: str | None = None) -> Plain:
    """The head of a result: which cell of which table it is, and how it ended.

    Args:
        config: the job's.
        status: `ok` or `failed`.
        error: the traceback of a failed job.
    """
    choices = config.get(CHOICES, {})
    return {
        "schema": SCHEMA,
        "status": status,
        "error": error,
        "dataset": {"name": choices.get("dataset")},
        **{group: choices.get(group) for group in ("kge_model", "netemb", "infusion", "training", "recipe")},
        "seed": config.get("seed"),
    }


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    return {
        "mohone": __version__,
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in _PACKAGES},
    }


def write_failed(folder: Path, config: Plain, error: str) -> None:
    """Write the result of a job that failed, of whatever configuration."""
    config = _json_ready(config)
    write_json(folder / RESULT, {**describe_job(config, "failed", error), "config": config})


def has_result(folder: Path) -> bool:
    """Does it hold the result of a job that ended well? A failed one may be tried again."""
    result = read_result(folder / RESULT)
    return result is not None and result["status"] == "ok"


def finished(folder: Path, keys: dict[str, str]) -> Plain | None:
    """The result of this very job if its folder holds one, that of a sweep that is gone on with.

    Args:
        folder: the job's.
        keys: of all its stages.

    Raises:
        OccupiedError: it holds another job's.
    """
    result = read_result(folder / RESULT)
    if result is None or result["status"] != "ok":
        return None
    if {name: stage["key"] for name, stage in result["stages"].items()} != keys:
        raise OccupiedError(
            f"The folder of a job must be a new one or the same job's, but {folder} holds another's "
            "result: name another folder, or delete this one."
        )
    return result


def _json_ready(value: Any) -> Any:
    """The same with numbers that JSON does not know (NaN, infinity) as texts."""
    if isinstance(value, dict):
        return {key: _json_ready(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json_ready(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def read_results(folders: list[Path]) -> list[tuple[Path, Plain]]:
    """All results at or below the folders, in the order of their paths, numbers by value.

    Files of that name that are no results are passed over, with a line on stderr.
    """
    paths = {path for folder in folders for path in folder.rglob(RESULT)}
    found = []
    for path in sorted(paths, key=_natural):
        result = read_result(path)
        if result is not None:
            found.append((path, result))
        else:
            print(f"{path} is no result of this program and is passed over.", file=sys.stderr)
    return found


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
        raise DataError(f"{folder} must be the folder of a job that ended well, but that one failed.")
    return result


def _is_result(value: Any) -> bool:
    """Has it what tables need? Whole files of another make have not."""
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        return False
    keys = ["dataset", "kge_model", "netemb", "infusion", "training", "recipe", "seed", "error"]
    if value.get("status") == "ok":
        keys += ["baseline", "infused", "significance", "selection", "stages"]
    return value.get("status") in ("ok", "failed") and all(key in value for key in keys)


def _natural(path: Path) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in path.parts]


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
    """What `write_ranks` kept: `(2 n_test,)` float64; None where it is not there."""
    try:
        with np.load(folder / RANKS) as arrays:
            return np.asarray(arrays[f"{model}/{setting}"], np.float64)
    except (FileNotFoundError, KeyError):
        return None


def is_gain(test: Plain) -> bool:
    """A gain that chance does not explain."""
    return bool(test["delta"] > 0 and test["p_value"] < LEVEL)
