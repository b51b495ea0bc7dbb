"""`python -m mohone.predict JOB --relation NAME --head NAME`: what a trained model takes for the answers."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mohone.core.errors import DataError, MohoneError, require_int
from mohone.core.terminal import prepare_terminal, typed
from mohone.experiment.job_arguments import add_job_options, open_given

if TYPE_CHECKING:
    from mohone.data.knowledge_graph import Vocabulary
    from mohone.evaluation.best_answers import Answer
    from mohone.experiment.finished import FinishedJob


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is no answer."""
    prepare_terminal()
    parser = argparse.ArgumentParser(prog="python -m mohone.predict", description=__doc__)
    parser.add_argument("job", type=Path, metavar="JOB", help="the folder of a job that has ended")
    parser.add_argument("--relation", type=typed, required=True, metavar="NAME")
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--head", type=typed, metavar="NAME", help="the known head: tails are asked for")
    asked.add_argument("--tail", type=typed, metavar="NAME", help="the known tail: heads are asked for")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="answers; 10 if not given")
    parser.add_argument("--known", action="store_true", help="also those that the data set has, and where")
    parser.add_argument("--baseline", action="store_true", help="of the model before the infusion")
    parser.add_argument("--why", action="store_true", help="below each answer what spoke for it")
    add_job_options(parser)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        require_int("--top", given.top, 1)
        for answer, reasons in _answers(given):
            print(f"{answer.name}\t{answer.score:.4f}" + (f"\t{answer.split}" if given.known else ""))
            for reason in reasons:
                print(f"  {reason}")
    except (MohoneError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _answers(given: argparse.Namespace) -> Iterator[tuple[Answer, list[str]]]:
    """The answers, each with what spoke for it if that is asked for."""
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.evaluation.best_answers import best_answers

    job = open_given(given.job, given)
    side, name = ("tail", given.head) if given.head is not None else ("head", given.tail)
    relation = _find("--relation", given.relation, job.kg.relations)
    entity = _find(f"--{'head' if side == 'tail' else 'tail'}", name, job.kg.entities)
    if given.why and (given.baseline or not job.is_infused):
        raise DataError("`--why` must be asked of an infused model, but this is a baseline.")
    model = job.baseline if given.baseline else job.model
    for answer in best_answers(model, job.kg, side, entity, relation, given.top, given.known):
        yield answer, _reasons(job, side, (entity, relation), answer) if given.why else []


def _reasons(job: FinishedJob, side: str, query: tuple[int, int], answer: Answer) -> list[str]:
    """What spoke for an answer; of a test triple also how its rank changed."""
    from mohone.evaluation.best_answers import filtered_rank

    reasons = job.why(side, query, answer.entity)
    if answer.split == "test":
        known, relation = query
        head, tail = (known, answer.entity) if side == "tail" else (answer.entity, known)
        before, after = (
            filtered_rank(model, job.kg, side, (head, relation, tail)) for model in (job.baseline, job.model)
        )
        reasons.append(f"in test: rank {before:g} by the baseline, {after:g} by this model")
    return reasons


def _find(option: str, name: str, vocabulary: Vocabulary) -> int:
    if name not in vocabulary.ids:
        raise DataError(f"`{option}` must be a name of the data set, but {name!r} is none.")
    return vocabulary.ids[name]


if __name__ == "__main__":
    sys.exit(main())
