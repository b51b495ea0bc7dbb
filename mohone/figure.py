"""`python -m mohone.figure KIND ... --out FILE.png`: a picture of a job, of a sweep, or of the idea."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

from mohone.core.command_line import Parser
from mohone.core.errors import DataError, require_choice
from mohone.core.files import check_file, check_folder
from mohone.core.terminal import exit_code, prepare_terminal, typed
from mohone.evaluation.settings import ALL_SETTINGS
from mohone.opened.job_arguments import add_job_options, check_job, open_given
from mohone.reporting.infusions import n_neighbors
from mohone.reporting.pictures import gains
from mohone.reporting.plotting import save_figure
from mohone.reporting.results import read_finished, read_results

_OF_JOB = {
    "grid": gains.grid_figure,
    "degree": gains.degree_figure,
    "distance": gains.distance_figure,
    "relation": gains.relation_figure,
}


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m mohone.figure", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    each = {
        "map": "an entity and its network neighbours before and after the infusion",
        "grid": "a job's gain on validation by beta and number of neighbours",
        "degree": "a job's gain by the degree of the right answer",
        "distance": "a job's gain by how many edges of the training network lie between head and tail",
        "relation": "what relations add to a job's gain, the greatest gains and losses",
        "scale": "gain against the scale of the network embedding, of all jobs below FOLDER",
        "strength": "gain against the baseline's strength, of all jobs below FOLDER",
        "barbell": "the heat of a bar-bell graph's nodes, and their roles",
    }
    parsers = {
        kind: kinds.add_parser(kind, help=text, description=text, completes=False)
        for kind, text in each.items()
    }
    for kind, sub in parsers.items():
        if kind != "barbell":
            sub.add_argument("folder", type=Path, metavar="FOLDER")
        if kind in ("scale", "strength"):
            sub.add_argument("--setting", choices=ALL_SETTINGS, default="filtered")
        sub.add_argument("--out", type=Path, required=True, metavar="FILE.png")
        sub.add_argument("--wandb", metavar="PROJECT", help="log it to Weights & Biases, too")
    parsers["map"].add_argument("--entity", type=typed, required=True, help="its name or readable label")
    parsers["map"].add_argument("--labels", type=Path, help="readable ones: NAME<TAB>LABEL lines")
    add_job_options(parsers["map"])
    parsers["barbell"].add_argument("--scale", type=float, default=5.0)
    return parser


def _draw(given: argparse.Namespace) -> Any:
    """The figure that is asked for; None: there is nothing to draw."""
    if given.kind == "barbell":
        from mohone.reporting.pictures.barbell import (
            barbell_figure,  # Torch takes seconds: help and typos should not.
        )

        return barbell_figure(given.scale)
    if given.kind in ("scale", "strength"):
        check_folder("FOLDER", given.folder)
        results = [result for _, result in read_results([given.folder])]
        draw = gains.scale_figure if given.kind == "scale" else gains.strength_figure
        return draw(results, given.setting)
    if given.kind == "map":
        return _map(given)
    return _OF_JOB[given.kind](read_finished(given.folder))


def _map(given: argparse.Namespace) -> Any:
    check_file("--labels", given.labels)
    check_job(given.folder, given)
    from mohone.data.labels import find_name, read_labels
    from mohone.reporting.pictures.maps import map_figure

    k = n_neighbors(read_finished(given.folder))
    if k == 0:
        raise DataError("A map needs an infusion that moves entities, but in this job none has moved.")
    job = open_given(given.folder, given)
    label_of = read_labels(given.labels)
    readable = [label_of.get(name, name) for name in job.kg.entities.names]
    entity_id = find_name("--entity", given.entity, job.kg.entities, label_of)
    metric = job.result["config"]["infusion"]["metric"]
    neighbors = job.space.nearest(k, metric).rows[entity_id]
    before, after = (model.entity_vectors.cpu() for model in (job.baseline, job.model))
    return map_figure(before, after, entity_id, neighbors, readable)


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is nothing to draw."""
    prepare_terminal()
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return exit_code(lambda: _save(given))


def _save(given: argparse.Namespace) -> None:
    require_choice("--out", given.out.suffix, (".png", ".pdf", ".svg"))
    figure = _draw(given)
    if figure is None:
        raise DataError(f"There must be results to draw, but {given.folder} has none for this figure.")
    save_figure(figure, given.out)
    if given.wandb:
        from mohone.experiment.loggers import log_picture

        log_picture(given.wandb, given.kind, figure, given.out.parent)
    print(given.out)


if __name__ == "__main__":
    sys.exit(main())
