"""The story of one job: data, network embedding, baseline, infusion, evaluation, result."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from omegaconf import OmegaConf

from mohone.core.config import Plain
from mohone.core.files import write_json, write_text
from mohone.core.runtime import prepare_process
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.metrics import by_relation, report, summarize, tie_warning
from mohone.evaluation.ranks import Ranks
from mohone.evaluation.significance import compare
from mohone.evaluation.unlinked import reported_settings
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.base import Trained
from mohone.experiment.stages.runner import Runner, describe
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
    plan = make_plan(config, folder)
    kg: KnowledgeGraph = plan.dataset.load()
    for line in kg.report.lines():
        log.info("%s", line)
    runner = Runner(plan, kg)
    runner.check()
    if done := finished(folder, runner.keys, config, kg.fingerprints):
        log.info("skipped: this job has ended before, in %s", folder)
        return done
    write_text(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(config)))
    result = None
    plan.logger.open(folder, config, sweep)
    try:
        result = _run(runner, folder)
    finally:
        plan.logger.close(result)
    write_json(folder / RESULT, result)
    for line in job_table(result):
        log.info("%s", line)
    return result


def _run(runner: Runner, folder: Path) -> Plain:
    """Train what is not in the store, and evaluate."""
    trained = {name: runner.run(stage) for name, stage in runner.stages.items()}
    models = {"baseline": runner.read(runner.baseline)}
    parts: dict[str, KGEModel] = {}
    if runner.plan.infusion and runner.plan.has_infusion:
        models["infused"] = runner.read(runner.infusion)
        parts = runner.plan.infusion.parts(models["infused"])

    start = time.perf_counter()
    figures = _evaluate(runner.kg, models, parts, folder)
    seconds = {name: each.seconds for name, each in trained.items()}
    seconds["evaluation"] = time.perf_counter() - start

    config = runner.plan.config
    result = {**describe_job(config, "ok"), **_describe_run(runner, trained), **figures}
    return result | {"seconds": seconds, "versions": versions(), "config": config}


def _evaluate(
    kg: KnowledgeGraph, models: dict[str, KGEModel], parts: dict[str, KGEModel], folder: Path
) -> Plain:
    """Rank the test triples with each model, keep the ranks, and compare the two if there are two."""
    test = LinkPrediction(kg, "test", reported_settings(kg))
    ranks = {name: test.ranks(model, f"test, {name}") for name, model in models.items()}
    write_ranks(folder, ranks)
    out: Plain = {"baseline": None, "infused": None, "significance": None}
    for name, each in ranks.items():
        out[name] = report(each, kg.test, kg)
        out[name]["numbers_per_entity"] = models[name].numbers_per_entity
        out[name]["filtered"]["relations"] = by_relation(each["filtered"], kg.test, kg)
        for setting in test.settings:
            if warning := tie_warning(setting, out[name][setting]):
                log.warning("%s: %s", name, warning)
    if "infused" in ranks:
        out["significance"] = _compare(ranks["baseline"], ranks["infused"])
    if parts:
        out["parts"] = {name: _part(test, part, ranks, name) for name, part in parts.items()}
    return out


def _part(test: LinkPrediction, model: KGEModel, ranks: dict[str, dict[str, Ranks]], name: str) -> Plain:
    """The figures of a model between baseline and infused: its gain, and the infused one's beyond it."""
    own = test.ranks(model, f"test, {name} alone")
    return {
        "figures": {setting: summarize(each) for setting, each in own.items()},
        "gain": _compare(ranks["baseline"], own),
        "beyond": _compare(own, ranks["infused"]),
    }


def _compare(before: dict[str, Ranks], after: dict[str, Ranks]) -> Plain:
    return {setting: compare(before[setting], after[setting]) for setting in before}


def _describe_run(runner: Runner, trained: dict[str, Trained]) -> Plain:
    """The data set, what was chosen on validation, and what each stage noted, without its curves."""
    kg, infusion = runner.kg, runner.plan.infusion
    last = list(trained.values())[-1]
    return {
        "dataset": {
            "name": kg.name,
            "fingerprint": kg.fingerprint,
            "fingerprints": dict(kg.fingerprints),
            "n_entities": kg.n_entities,
            "n_relations": kg.n_relations,
            "n_train": len(kg.train),
            "n_valid": len(kg.valid),
            "n_test": len(kg.test),
            "report": kg.report.to_dict(),
        },
        "valid_mrr": last.notes["valid_mrr"],
        "control": infusion is not None and infusion.is_control,
        "selection": trained["infusion"].notes["selection"] if "infusion" in trained else None,
        "stages": describe(trained),
        "reused": [name for name, each in trained.items() if each.reused],
    }
