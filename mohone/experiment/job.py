"""The story of one job: data, network embedding, baseline, infusion, evaluation, result."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from omegaconf import OmegaConf

from mohone.core.config import Plain, build
from mohone.core.files import write_json, write_text
from mohone.core.runtime import prepare_process
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.metrics import report, tie_warning
from mohone.evaluation.significance import compare
from mohone.experiment.loggers import JobLogger
from mohone.experiment.stages import Stage, Stages
from mohone.experiment.trainers import TrainerFactory
from mohone.kge import KGEModel
from mohone.reporting.jobs import job_table
from mohone.reporting.results import RESULT, describe_job, finished, versions, write_ranks

log = logging.getLogger(__name__)
CONFIG = "config.yaml"


def run_job(config: Plain, folder: Path, sweep: str | None = None) -> Plain:
    """Run one job and write its `result.json`, as the last act; if that is there, there is nothing to do.

    Args:
        config: plain and resolved, with absolute paths.
        folder: the job's own.
        sweep: a name for the jobs of one sweep, for loggers that group them.

    Returns:
        the result, as written.

    Raises:
        OccupiedError: the folder holds the result of another job.
    """
    prepare_process(config)
    kg: KnowledgeGraph = build("dataset", config["dataset"]).load()
    for line in kg.report.lines():
        log.info("%s", line)
    logger: JobLogger = build("logger", config["logger"])
    stages = Stages(config, kg, TrainerFactory(config["trainer"], folder, logger))
    if done := finished(folder, stages.keys):
        log.info("skipped: this job has ended before, in %s", folder)
        return done
    write_text(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(config)))
    result = None
    logger.open(folder, config, sweep)
    try:
        result = _run(config, kg, stages, folder)
    finally:
        logger.close(result)
    write_json(folder / RESULT, result)
    for line in job_table(result):
        log.info("%s", line)
    return result


def _run(config: Plain, kg: KnowledgeGraph, stages: Stages, folder: Path) -> Plain:
    """Train what is not in the store, and evaluate."""
    trained: dict[str, Stage] = {}
    if stages.has_netemb:
        trained["netemb"] = stages.netemb()
    trained["baseline"] = stages.baseline()
    models = {"baseline": stages.read_model(trained["baseline"])}
    if stages.has_infusion:
        trained["infusion"] = stages.infusion(trained["netemb"], trained["baseline"])
        models["infused"] = stages.read_model(trained["infusion"])

    start = time.perf_counter()
    figures = _evaluate(kg, models, folder)
    seconds = {name: stage.seconds for name, stage in trained.items()}
    seconds["evaluation"] = time.perf_counter() - start

    result = {**describe_job(config, "ok"), **_describe_run(kg, trained), **figures}
    return result | {"seconds": seconds, "versions": versions(), "config": config}


def _evaluate(kg: KnowledgeGraph, models: dict[str, KGEModel], folder: Path) -> Plain:
    """Rank the test triples with each model, keep the ranks, and compare the two if there are two."""
    test = LinkPrediction(kg, "test")
    ranks = {name: test.ranks(model, f"test, {name}") for name, model in models.items()}
    write_ranks(folder, ranks)
    out: Plain = {"baseline": None, "infused": None, "significance": None}
    for name, each in ranks.items():
        out[name] = report(each, kg.test, kg)
        out[name]["numbers_per_entity"] = models[name].numbers_per_entity
        for setting in test.settings:
            if warning := tie_warning(setting, out[name][setting]):
                log.warning("%s: %s", name, warning)
    if "infused" in ranks:
        out["significance"] = {
            setting: compare(ranks["baseline"][setting], ranks["infused"][setting])
            for setting in test.settings
        }
    return out


def _describe_run(kg: KnowledgeGraph, trained: dict[str, Stage]) -> Plain:
    """The data set, what was chosen on validation, and what each stage noted, without its curves."""
    return {
        "dataset": {
            "name": kg.name,
            "fingerprint": kg.fingerprint,
            "n_entities": kg.n_entities,
            "n_relations": kg.n_relations,
            "n_train": len(kg.train),
            "n_valid": len(kg.valid),
            "n_test": len(kg.test),
            "report": kg.report.to_dict(),
        },
        "selection": trained["infusion"].info["selection"] if "infusion" in trained else None,
        "stages": {
            name: {"key": stage.key}
            | {k: v for k, v in stage.info.items() if isinstance(v, int | float | str)}
            for name, stage in trained.items()
        },
        "reused": [name for name, stage in trained.items() if stage.reused],
    }
