"""The story of one job: data, network embedding, baseline, infusion, evaluation, result."""

from __future__ import annotations

import logging
from pathlib import Path

from omegaconf import OmegaConf

from mohone.configuration import recipes
from mohone.configuration.by_size import Size, in_words
from mohone.configuration.compose import RECIPE_FILES
from mohone.core.compiling import COSTS
from mohone.core.config import CHOICES, Plain
from mohone.core.files import write_json, write_text
from mohone.core.runtime import prepare_process, seed_everything
from mohone.data import KnowledgeGraph
from mohone.evaluation.metrics import tie_warning
from mohone.evaluation.settings import settings_in
from mohone.experiment.estimated_memory import check_memory
from mohone.experiment.plan import make_plan
from mohone.experiment.stages.base import Trained
from mohone.experiment.stages.runner import Runner, describe
from mohone.experiment.team import assembled, help_first
from mohone.experiment.trained import Figures, TrainedJob
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
    with assembled():
        runner = _runner(config, folder)
        for line in runner.kg.report.lines():
            log.info("%s", line)
        return run_stages(runner, folder, sweep)


def help_job(config: Plain, folder: Path) -> None:
    """Help the process that runs the job, as one of those that torchrun has started beside it.

    Args:
        config: as that process has it.
        folder: of what a Trainer might write; it writes nothing.
    """
    runner = _runner(config, folder)

    def train() -> None:
        seed_everything(runner.plan.seed)
        runner.baseline.help(runner)

    help_first(train)


def _runner(config: Plain, folder: Path) -> Runner:
    prepare_process(config)
    plan = make_plan(config, folder)
    kg: KnowledgeGraph = plan.dataset.load()
    return Runner(plan, kg)


def run_stages(
    runner: Runner, folder: Path, sweep: str | None = None, figures: Figures | None = None
) -> Plain:
    """Train the stages of a job that are not in the store, evaluate, and write its folder; see `run_job`.

    Args:
        runner: of the job's stages.
        folder: the job's own.
        sweep: see `run_job`.
        figures: of these very stages, if test was ranked before.
    """
    runner.check()
    plan = runner.plan
    if done := finished(folder, runner.keys, plan.config, runner.kg.fingerprints):
        log.info("skipped: this job has ended before, in %s", folder)
        _show(done)
        return done
    if plan.config.get("check_memory", True):
        check_memory(runner)
    log.info("%s", recipes.in_words(*_recipe(plan.config)))
    if plan.infusion and not plan.has_infusion:
        log.info("no infusion: it needs a network embedding, but `netemb` is none")
    if plan.by_size:
        log.info("settings %s", in_words(plan.by_size, Size.of(runner.kg)))
    write_text(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(plan.config)))
    result = None
    plan.logger.open(folder, plan.config, sweep)
    try:
        result = _run(TrainedJob(runner), folder, figures)
    finally:
        plan.logger.close(result)
    write_json(folder / RESULT, result)
    _show(result)
    return result


def _show(result: Plain) -> None:
    for line in job_table(result):
        log.info("%s", line)


def _run(job: TrainedJob, folder: Path, figures: Figures | None) -> Plain:
    """Train what is not in the store, and evaluate."""
    runner = job.runner
    trained = {name: runner.run(stage) for name, stage in runner.stages.items()}
    figures = figures or job.figures
    notes: dict[str, Plain] = {name: each.notes for name, each in trained.items()}
    notes["evaluation"] = figures.watch.costs
    write_ranks(folder, figures.ranks)
    _warn_of_ties(figures.report)

    config = runner.plan.config
    result = {**describe_job(config, "ok"), **_describe_run(runner, trained), **figures.report}
    costs = {cost: {name: each.get(cost) for name, each in notes.items()} for cost in COSTS}
    return result | {**costs, "versions": versions(), "config": config}


def _recipe(config: Plain) -> tuple[str, list[str]]:
    """The recipe and those of its files that hold."""
    choices = config.get(CHOICES, {})
    files = choices.get(RECIPE_FILES)
    return str(choices.get("recipe")), recipes.applied(choices) if files is None else str(files).split()


def _warn_of_ties(report: Plain) -> None:
    for name in ("baseline", "infused"):
        for setting in settings_in(report[name] or {}):
            if warning := tie_warning(setting, report[name][setting]):
                log.warning("%s: %s", name, warning)


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
        "recipe_files": _recipe(runner.plan.config)[1],
        "by_size": runner.plan.by_size,
        "valid_mrr": last.notes["valid_mrr"],
        "control": infusion is not None and infusion.is_control,
        "selection": trained["infusion"].notes["selection"] if "infusion" in trained else None,
        "stages": describe(trained),
        "reused": [name for name, each in trained.items() if each.reused],
    }
