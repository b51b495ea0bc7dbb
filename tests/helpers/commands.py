"""Commands as a user types them, in this process or in a new one, and what they leave."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import torch
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig

from mohone.sweeps.sweep import FAILURES

TINY = [
    "dim=4",
    "training.max_epochs=2",
    "training.validate_every=1",
    "netemb.min_steps=5",
    "netemb.min_epochs=1",
    "infusion.neighbors=[1,2]",
    "infusion.beta=[0,0.2]",
    "infusion.retrain_epochs=1",
]


def mohone(
    folder: Path, *arguments: str, module: str = "mohone.run", **environment: str
) -> CompletedProcess[str]:
    """Run a command in this process, which has imported all, as if it were new: a tenth of the time."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    main = importlib.import_module(module).main
    with _as_new(folder, environment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        sys.argv = [module, *arguments]
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
    out.seek(0)
    err.seek(0)
    code = code if isinstance(code, int) else int(code is not None)
    return CompletedProcess([module, *arguments], code, out.read(), err.read())


def mohone_process(
    folder: Path, *arguments: str, module: str = "mohone.run", **environment: str
) -> CompletedProcess[str]:
    """Run a command in a new process, for tests of what only a process has: a locale, signals, children."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@contextlib.contextmanager
def _as_new(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """What a command changes in its process, put back: folder, environment, Hydra, loggers, threads."""
    root = logging.getLogger()
    handlers, level, here, argv = root.handlers[:], root.level, Path.cwd(), sys.argv
    before, threads = dict(os.environ), torch.get_num_threads()
    os.environ.update(environment)
    os.chdir(folder)
    torch.set_num_threads(1)
    root.handlers = []
    GlobalHydra.instance().clear()
    try:
        with warnings.catch_warnings():
            yield
    finally:
        FAILURES.clear()
        for handler in root.handlers:
            handler.close()
        root.handlers = handlers
        root.setLevel(level)
        torch.set_num_threads(threads)
        GlobalHydra.instance().clear()
        HydraConfig.instance().cfg = None
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
        sys.argv = argv


def results(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.rglob("result.json"), key=lambda p: p.stat().st_mtime_ns)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def without_times(result: dict[str, Any]) -> dict[str, Any]:
    return {k: result[k] for k in ("baseline", "infused", "significance", "selection")}
