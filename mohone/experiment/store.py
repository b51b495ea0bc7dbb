"""The stage store: what a job trains is kept under a key of all that it depends on, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from mohone.core.errors import ConfigError
from mohone.core.files import check_writable, locked, making_once

log = logging.getLogger(__name__)
FORMAT = 5  # Raise it when the same configuration would give other results than before.

# Keys that configurations got later, and the values that mean "as before": with them a stage stays the same.
_LATER: dict[tuple[str, ...], dict[str, Any]] = {
    ("trainer",): {"num_nodes": 1},
    ("training", "objective"): {"dura_ends": "one", "relation_weight": 0.0, "network_weight": 0.0},
    ("training", "fit"): {"shard_rows": False},
}
_WAITING = "%s: waiting for another job that trains the same"


def stage_key(
    stage: str,
    config: dict[str, Any],
    *,
    fingerprint: str,
    seed: int,
    parents: tuple[str, ...] = (),
) -> str:
    """The key of a stage: a hash of all that its result depends on.

    Args:
        stage: its name.
        config: the resolved configuration values that matter to it, of plain types.
        fingerprint: the data set's.
        seed: the job's.
        parents: keys of the stages it builds on.

    Example:
        >>> usual = stage_key("baseline", {"dim": 32}, fingerprint="0f", seed=0)
        >>> len(usual), usual == stage_key("baseline", {"dim": 33}, fingerprint="0f", seed=0)
        (32, False)
    """
    content = {
        "format": FORMAT,
        "stage": stage,
        "config": _as_before(config),
        "dataset": fingerprint,
        "seed": seed,
        "parents": list(parents),
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _as_before(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration without later keys that change nothing; the rest is shared."""
    for path, usual in _LATER.items():
        config = _without(config, path, usual)
    return config


def _without(config: dict[str, Any], path: tuple[str, ...], usual: dict[str, Any]) -> dict[str, Any]:
    """Without keys of these values in the part of a configuration that a path leads to."""
    if not path:
        return {key: value for key, value in config.items() if key not in usual or value != usual[key]}
    part = config.get(path[0])
    return {**config, path[0]: _without(part, path[1:], usual)} if isinstance(part, dict) else config


class StageStore:
    """Folders by stage and key under `root`, each made once.

    A stage is built in a folder beside its place and renamed into it, under a lock for its key: a killed run
    leaves no half of a stage, and of two jobs that want the same stage one builds it and one waits. Where
    they see no common lock (machines whose shared file system keeps locks to each of them), both build it,
    both end well, and the stage of the first stays.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def place(self, stage: str, key: str) -> Path:
        """Where a stage is kept."""
        return self.root / stage / key

    def get(
        self,
        stage: str,
        key: str,
        build: Callable[[Path], None],
        is_whole: Callable[[Path], bool] = Path.is_dir,
    ) -> tuple[Path, bool]:
        """The folder of a stage, built by `build(folder)` if it is not there, or not whole.

        Returns:
            the folder, and whether it was there already.
        """
        place = self.place(stage, key)
        if is_whole(place):
            return place, True
        with self.lock(stage, key):
            if is_whole(place):
                return place, True
            with making_once(place, is_whole) as part:
                build(part)
        return place, False

    def lock(self, stage: str, key: str) -> AbstractContextManager[None]:
        """Hold what only one job may write at a time."""
        return locked(self.root / stage / f"{key}.lock", lambda: log.info(_WAITING, stage))

    def check(self) -> None:
        """Make the root.

        Raises:
            ConfigError: if it cannot be written.
        """
        try:
            check_writable(self.root)
        except OSError as error:
            raise ConfigError(
                f"`store_dir` must be a folder that can be written, but {self.root} is not: {error.strerror}."
            ) from None
