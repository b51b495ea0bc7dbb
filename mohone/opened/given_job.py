"""Jobs on what another tool has trained: their configuration, and the way of their outcome into its files."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from mohone.configuration.compose import compose_plain
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import ConfigError, DataError
from mohone.core.files import check_writable
from mohone.core.named_vectors import check_format
from mohone.core.runtime import prepare_process, seed_everything
from mohone.elsewhere import Source, open_source, rows_of_entities, taken_back
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.runner import Runner
from mohone.infusion import NetworkSpace, Retrofit
from mohone.infusion.retrofit import Pull, retrofit
from mohone.kge import Wrapped
from mohone.opened.finished import open_job

log = logging.getLogger(__name__)
USUAL = (20, 0.2)  # Neighbours and beta where no validation can choose: those it most often chooses.


def compose_given(source: Source, relations: Path | None, settings: Sequence[str]) -> Plain:
    """The configuration of a job on a model that another tool has trained, as its files say and as is set.

    Args:
        source: the files, opened.
        relations: the file of relation vectors, if there is one.
        settings: `GROUP=CHOICE` and `KEY=VALUE`.

    Raises:
        ConfigError: a setting that cannot be.
    """
    if any(each.lstrip("+").startswith("given.") for each in settings):
        raise ConfigError("`given` must be left out, for the command's own arguments say it, but is set.")
    if source.unknown is not None:  # Entity vectors alone are no baseline.
        return compose_plain(list(settings))
    if source.kge_model is None and not any(each.startswith("kge_model=") for each in settings):
        raise ConfigError(f"`kge_model` must be set for {source.path}, as in kge_model=transe, but is not.")
    said = [f"kge_model={source.kge_model}"] if source.kge_model else []
    first = compose_plain([*said, *settings])
    if source.kge_model not in (None, first[CHOICES]["kge_model"]):
        raise ConfigError(f"`kge_model` must be {source.kge_model} for {source.path}, but is another one.")
    found = source.settings(first["kge_model"])
    said += [f"kge_model.{key}={value}" for key, value in found.items()]
    config = compose_plain([*said, *settings])
    return {**config, "given": {"model": str(source.path), "relations": relations and str(relations)}}


def check_out(source: Source, out: Path) -> None:
    """Refuse, before any work, a place where nothing can be written.

    Raises:
        ConfigError: there is something, or the ending of no format.
    """
    if out.exists():
        raise ConfigError(f"`--out` must not be there yet, but {out} is.")
    if source.unknown is not None and source.path.is_file():
        check_format(out)
    check_writable(out.parent)


def write_infused(folder: Path, out: Path) -> str:
    """Write what a job came to in the form that its model was given in.

    Args:
        folder: of a job that has ended, whose `given.model` is set.
        out: a file or folder that is not there.

    Returns:
        a sentence that says what was written.
    """
    job = open_job(folder)
    source, model = job.runner.plan.given.source, job.model
    if source is None:
        raise ConfigError(f"{folder} must be a job on a given model, but its model was trained there.")
    if isinstance(model, Wrapped):
        return (
            f"Nothing is written to {out}, since what this infusion learned is more than a vector for each "
            f"entity: the model is kept with {folder}, for `python -m mohone.predict "
            f"{shlex.quote(str(folder))} ...`."
        )
    source.write(out, taken_back(source, model, job.kg))
    return f"{out}: the {'infused ' if job.is_infused else ''}model, in the form of {source.path}"


def infuse_vectors(source: Source, config: Plain, out: Path) -> str:
    """Retrofit entity vectors of a model that is not ours, and write them; nothing is evaluated.

    Args:
        source: the files.
        config: of a job: its data set, network, network embedding and infusion matter.
        out: a file or folder that is not there.

    Returns:
        a sentence that says what was written.

    Raises:
        ConfigError: no network embedding, or an infusion that moves no vectors.
    """
    prepare_process(config)
    plan = make_plan(config, out.parent)
    infusion = plan.infusion
    if not isinstance(infusion, Retrofit) or infusion.side != "both":
        raise ConfigError("`infusion` must be retrofit for entity vectors alone, but is another one.")
    if plan.embedding is None:
        raise ConfigError("`netemb` must be a network embedding, but is none.")
    kg = plan.dataset.load()
    rows = rows_of_entities(source, kg)
    if not all(torch.isfinite(table).all() for table in source.vectors()):
        raise DataError(f"{source.path} must have finite numbers, but has others.")
    runner = Runner(plan, kg)
    plan.store.check()
    infusion.check(int(kg.seen_entities.sum()), 1)
    seed_everything(plan.seed)
    k, beta = _one(infusion.neighbors, USUAL[0]), _one(infusion.beta, USUAL[1])
    log.info(
        "no validation without a model: %d neighbours, beta %g (infusion.neighbors, infusion.beta)", k, beta
    )
    pull = Pull(beta, infusion.alpha, infusion.iterations)
    space: NetworkSpace = runner.read(runner.network)
    nearest = space.nearest(int(k), infusion.metric).rows
    source.write_vectors(out, [_moved(table, rows, nearest, pull) for table in source.vectors()])
    return f"{out}: {int((rows >= 0).sum()):,} entity vectors retrofitted, in the form of {source.path}"


def _moved(table: Tensor, rows: Tensor, nearest: Tensor, pull: Pull) -> Tensor:
    """A table with the rows of the data set's entities retrofitted; those of others stay."""
    there = rows >= 0  # All that have an edge, hence all that are a neighbour.
    moved = retrofit(table[rows].to(torch.float32), nearest, pull)
    out = table.clone()
    out[rows[there]] = moved[there].to(table.dtype)
    return out


def _one(value: float | Sequence[float], usual: float) -> float:
    """A value that is set alone; for a list to choose from the usual one."""
    return usual if isinstance(value, Sequence) else value


def open_given(model: Path, relations: Path | None) -> Source:
    """`open_source`, and a sentence in the log where it is no model of ours."""
    source = open_source(model, relations)
    if source.unknown is not None:
        log.info(
            "%s: %s, so the entity vectors alone are infused and nothing is evaluated", model, source.unknown
        )
    return source
