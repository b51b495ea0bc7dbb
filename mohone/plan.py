"""`python -m mohone.plan [GROUP=CHOICE KEY=VALUE ...]`: what a job will take, by stage: memory and time."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mohone.configuration.compose import absolute_paths, as_trained, compose_plain
from mohone.core.command_line import Parser, YesNo
from mohone.core.config import Plain
from mohone.core.errors import MohoneError, require_bool
from mohone.core.files import check_folder
from mohone.core.terminal import prepare_terminal

if TYPE_CHECKING:
    from mohone.experiment.stages.runner import Runner


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is no such job, or it does not fit in memory."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.plan", description=__doc__)
    parser.add_argument(
        "settings", nargs="*", help="of one job, as of `mohone.run`: kge_model=complex dim=400"
    )
    parser.add_argument("--config-dir", type=Path, help="a folder of configuration files of your own")
    parser.add_argument(
        "--time",
        action=YesNo,
        default=True,
        help="also time, for which some steps are measured",
    )
    given = parser.parse_intermixed_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    settings = list(given.settings)
    try:
        check_folder("--config-dir", given.config_dir)
        if given.config_dir is not None:
            settings.append(f"hydra.searchpath=['file://{given.config_dir.absolute()}']")
        config = compose_plain(settings)
        return _show(as_trained(absolute_paths(config, Path.cwd())), given.time)
    except (MohoneError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


def _show(config: Plain, timed: bool) -> int:
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.core.runtime import prepare_process
    from mohone.experiment.estimates import estimate, stages_table
    from mohone.experiment.plan import make_plan
    from mohone.experiment.stages.runner import Runner

    prepare_process(config)
    require_bool("check_memory", config["check_memory"])
    plan = make_plan(config, Path.cwd())
    runner: Runner = Runner(plan, plan.dataset.load())
    runner.check()
    found = estimate(runner, timed)
    print(stages_table(found), flush=True)
    for each in found:
        if each.refusal:
            print(each.refusal, file=sys.stderr)
    return int(any(each.refusal for each in found))


if __name__ == "__main__":
    sys.exit(main())
