"""The verbs: fit a model, embed the network, infuse the one with the other, open what was saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mohone.api.choices import Choice, as_choice
from mohone.api.model import Model
from mohone.api.network import NetworkVectors
from mohone.api.running import runner_of, train
from mohone.api.settings import configure
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph
from mohone.experiment.stages.runner import Runner
from mohone.experiment.trained import TrainedJob
from mohone.opened.finished import open_job as open_finished
from mohone.reporting.differences import differences


def fit(kg: KnowledgeGraph, model: str | Choice = "transe", **settings: Any) -> Model:
    """Train a model on the training triples, to its best on validation.

    Args:
        kg: of `mohone.load`.
        model: a name, with the values of its recipe, or a choice with your own: `mohone.TransE(dim=64)`.
        **settings: any key of the configuration that a training has: `dim=64`, `seed=1`, `recipe="strong"`,
            `lr=0.1`, `max_epochs=20`, `**{"training.objective.n3": 0.1}`. `store_dir` is where it is kept
            (`outputs/store`): the same call again trains nothing.

    Returns:
        the trained model.

    Raises:
        ConfigError: a setting that cannot be.
        TrainingError: the loss is not finite.
    """
    runner = runner_of(kg, configure(kg, as_choice("kge_model", model), settings))
    train(runner, runner.baseline)
    return Model(TrainedJob(runner))


def embed_network(kg: KnowledgeGraph, netemb: str | Choice = "shnb", **settings: Any) -> NetworkVectors:
    """Learn where the entities lie in network space, from the training triples.

    Args:
        kg: of `mohone.load`.
        netemb: a name, or a choice with values of your own: `mohone.SHNB(scale=3.0)`.
        **settings: any key that a network embedding has: `dim=64`, `seed=1`, `scale=3.0`.

    Returns:
        the embedding.
    """
    runner = runner_of(kg, configure(kg, as_choice("netemb", netemb), settings))
    if "netemb" not in runner.stages:
        raise ConfigError("`netemb` must be a network embedding, but is none.")
    train(runner, runner.network)
    return NetworkVectors(TrainedJob(runner))


def infuse(
    base: Model,
    net: NetworkVectors | str | Choice = "shnb",
    infusion: str | Choice = "retrofit",
    **settings: Any,
) -> Model:
    """Infuse a trained model with what the network knows.

    Args:
        base: of `fit`; it stays as it is.
        net: of `embed_network`, or what is to be embedded, by the seed and trainer of `base`; infusions that
            need no embedding learn none.
        infusion: a name (`retrofit`, `query`, `evidence`), or a choice with values of your own.
        **settings: any key that the infusion has: `beta=0.5`, `experts=["votes"]`; what holds for a whole job
            (`store_dir`, `progress`, ...) is as `base` has it.

    Returns:
        the infused model, with `base` as its `baseline`; validation may have chosen to leave it as it was.

    Raises:
        ConfigError: `base` and `net` do not belong together.
    """
    if not isinstance(base, Model):
        raise TypeError(f"`base` must be what `mohone.fit` gives, but is a {type(base).__name__}.")
    first = base.config
    if base.is_infused:
        raise ConfigError("`base` must be a model that was not infused, but is infused: give its `baseline`.")
    chosen = configure(base.kg, as_choice("infusion", infusion), settings, first["seed"])
    if isinstance(net, NetworkVectors):
        runner = runner_of(base.kg, _joined(first, net.config, chosen))
        _check_belongs(net, runner)
    else:
        named = configure(base.kg, as_choice("netemb", net), {}, first["seed"])
        runner = runner_of(base.kg, _joined(first, named, chosen))
    if "infusion" not in runner.stages:
        what = "`infusion` must be one" if runner.plan.infusion is None else "`net` must be an embedding"
        raise ConfigError(f"{what}, but is none.")
    train(runner, runner.infusion)
    return Model(TrainedJob(runner), base)


def _check_belongs(net: NetworkVectors, runner: Runner) -> None:
    """Is it of the data set of these stages, and the embedding that they would learn, if they learn one?"""
    if net.kg.fingerprint != runner.kg.fingerprint:
        raise ConfigError(f"`net` must be of the data set of `base`, but is of another ({net.kg.name}).")
    if runner.keys.get("netemb", net.key) != net.key:
        why = differences(_of_network(net.config), _of_network(runner.plan.config))
        raise ConfigError(f"`net` must be made as `base` was, but they differ ({why}).")


def _of_network(config: Plain) -> Plain:
    """What a network embedding depends on."""
    return {key: config[key] for key in ("seed", "network", "netemb", "trainer")}


def _joined(base: Plain, net: Plain, infusion: Plain) -> Plain:
    """The configuration of a job that is all three."""
    out = {**base, "netemb": net["netemb"], "network": net["network"], "infusion": infusion["infusion"]}
    named = {"netemb": net[CHOICES]["netemb"], "infusion": infusion[CHOICES]["infusion"]}
    return {**out, CHOICES: {**base[CHOICES], **named}}


def open_job(folder: str | Path, *, data: str | Path | None = None, store: str | Path | None = None) -> Model:
    """Open the folder of a job that has ended: of a command, or of `Model.save`.

    Args:
        folder: the job's.
        data: the folder of its data, if they were moved (triples from memory lie in the job's own).
        store: that of what was trained, likewise.

    Raises:
        DataError: the folder holds none, or its data have changed.
    """
    if not isinstance(folder, str | Path):
        raise TypeError(f"`folder` must be a path, but is a {type(folder).__name__}.")
    data, store = (None if each is None else Path(each) for each in (data, store))
    return Model(open_finished(Path(folder), data, store))
