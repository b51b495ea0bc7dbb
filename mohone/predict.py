"""`python -m mohone.predict JOB --relation NAME --head NAME`: what a trained model takes for the answers.

Two of `--head`, `--relation` and `--tail` are given; the third is asked for. Each may be given several times:
all their pairs are answered. Or `--queries FILE` holds queries, one a line.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohone.core.command_line import Parser, YesNo
from mohone.core.errors import ConfigError, DataError
from mohone.core.files import check_file
from mohone.core.terminal import exit_code, prepare_terminal, typed
from mohone.core.words import counted
from mohone.opened.job_arguments import add_job_options, check_job, open_given

if TYPE_CHECKING:
    from mohone.data import KnowledgeGraph
    from mohone.evaluation.best_answers import Answer
    from mohone.kge import KGEModel
    from mohone.opened.answering import AnswerTable
    from mohone.opened.finished import FinishedJob

Triple = tuple[int, int, int]
_PARTS = ("head", "relation", "tail")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m mohone.predict",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("job", type=Path, metavar="JOB", help="the folder of a job that has ended")
    for part in _PARTS:
        parser.add_argument(f"--{part}", type=typed, action="append", metavar="NAME", help=f"a known {part}")
    lines = "head<TAB>relation<TAB>tail lines, one field empty or `?`"
    parser.add_argument("--queries", type=Path, metavar="FILE", help=lines)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a table: .tsv or .parquet (pyarrow)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="answers; 10 if not given")
    parser.add_argument("--known", action="store_true", help="also those that the data set has, and where")
    parser.add_argument("--typed", action="store_true", help="only what train has with it on that side")
    own = "may a query's entity be its answer? If not given: where the data have such triples"
    parser.add_argument("--own", action=YesNo, help=own)
    parser.add_argument("--labels", type=Path, metavar="FILE", help="readable ones: NAME<TAB>LABEL lines")
    parser.add_argument("--with", type=Path, dest="newer", metavar="FILE", help="triples of newer entities")
    parser.add_argument("--baseline", action="store_true", help="of the model before the infusion")
    parser.add_argument("--why", action="store_true", help="below each answer what spoke for it")
    add_job_options(parser)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is no answer."""
    prepare_terminal()
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    return exit_code(lambda: _predict(given))


def _check(given: argparse.Namespace) -> None:
    """Refuse, before anything is read, what cannot be asked."""
    named = [f"`--{part}`" for part in _PARTS if getattr(given, part)]
    if given.queries is not None and named:
        raise ConfigError(f"`--queries` must be given without {' and '.join(named)}, but is given with it.")
    if given.queries is None and len(named) != 2:
        raise ConfigError(
            "Two of `--head`, `--relation` and `--tail` must be given, and the third is asked for; but given "
            f"are {', '.join(named) or 'none'}."
        )
    if given.why and given.newer:
        raise ConfigError("`--why` must be asked without `--with`, but is asked with it.")
    if given.why and (given.queries or given.out):
        raise ConfigError("`--why` must be asked without `--queries` and `--out`, but is asked with them.")
    if given.why and not given.relation:
        raise ConfigError("`--why` must be asked of heads or tails, but relations are asked for.")
    for option, path in (("queries", given.queries), ("labels", given.labels), ("with", given.newer)):
        check_file(f"--{option}", path)
    check_job(given.job, given)


def _predict(given: argparse.Namespace) -> None:
    _check(given)
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.data.labels import read_labels
    from mohone.evaluation.best_answers import Wanted, best_answers
    from mohone.opened.answering import AnswerTable, check_table

    wanted = Wanted(given.top, given.known, given.typed, given.own)
    if given.out:
        check_table(given.out)
    labels = read_labels(given.labels)
    job = open_given(given.job, given)
    if given.why and (given.baseline or not job.is_infused):
        raise DataError("`--why` must be asked of an infused model, but this is a baseline.")
    if given.why and not job.can_say_why:
        how = job.result["infusion"]
        raise DataError(f"`--why` must be asked of a model with evidence, but this one is infused by {how}.")
    model, kg = _model(given, job)
    queries = [] if given.queries else _queries(given, kg, labels)
    if given.queries or given.out or (len(queries) > 1 and not given.why):
        _table(given, AnswerTable(model, kg, wanted, labels), queries)
        return
    for query in queries:
        if len(queries) > 1:
            print("\t".join(_shown(kg, query)))
        for answer in best_answers(model, kg, query, wanted):
            label = [labels.get(answer.name, "")] if labels else []
            fields = [answer.name, f"{answer.score:.4f}", *[answer.split] * wanted.known, *label]
            print("\t".join(fields))
            for reason in _reasons(job, query, answer) if given.why else ():
                print(f"  {reason}")


def _model(given: argparse.Namespace, job: FinishedJob) -> tuple[KGEModel, KnowledgeGraph]:
    """The model that is asked and its data set, with newer entities if there are."""
    model = job.baseline if given.baseline else job.model
    if not given.newer:
        return model, job.kg
    from mohone.data.headers import without_known_header
    from mohone.data.reading import read_triples
    from mohone.training.newcomers import Newcomers, add_entities

    delimiter = job.result["config"]["dataset"].get("delimiter", "\t")
    triples = without_known_header(given.newer, read_triples(given.newer, delimiter), job.kg).triples
    plan = job.runner.plan
    return add_entities(model, job.kg, triples, plan.training.objective, Newcomers(seed=plan.seed))


def _queries(given: argparse.Namespace, kg: KnowledgeGraph, labels: dict[str, str]) -> list[Triple]:
    """All combinations of what is given, in its order; the third part is asked for."""
    from mohone.data.labels import find_name
    from mohone.data.queries import ASKED

    def ids(part: str) -> list[int]:
        vocabulary = kg.relations if part == "relation" else kg.entities
        names = getattr(given, part)
        return [find_name(f"--{part}", name, vocabulary, labels) for name in names] if names else [ASKED]

    return list(itertools.product(*(ids(part) for part in _PARTS)))  # type: ignore[arg-type]


def _shown(kg: KnowledgeGraph, query: Triple) -> list[str]:
    """A query as a line of a file of queries has it."""
    names = zip(query, (kg.entities, kg.relations, kg.entities), strict=True)
    return [vocabulary.names[i] if i >= 0 else "?" for i, vocabulary in names]


def _table(given: argparse.Namespace, table: AnswerTable, queries: list[Triple]) -> None:
    """Answer several queries as a table, to a file or line by line."""
    import torch

    from mohone.data.queries import QueryLines, read_queries
    from mohone.opened.answering import write_table

    batches: Any = [QueryLines(torch.tensor(queries), list(range(1, len(queries) + 1)))]
    if given.queries:
        for _ in read_queries(given.queries, table.kg):  # A fault is said before anything is answered.
            pass
        batches = read_queries(given.queries, table.kg, table.batch_size)
    if given.out:
        n = write_table(given.out, table.columns, table.lines(batches))
        print(f"{given.out}: {counted(n, 'answer')}")
        return
    print("\t".join(table.columns))
    for line in table.lines(batches):
        print(line)


def _reasons(job: FinishedJob, query: Triple, answer: Answer) -> list[str]:
    """What spoke for an answer; of a test triple also how its rank changed."""
    from mohone.data.queries import asked_part
    from mohone.evaluation.one_rank import filtered_rank

    side = asked_part(query)
    head, relation, tail = query
    reasons = job.why(side, (head if side == "tail" else tail, relation), answer.id)
    if answer.split == "test":
        full = (head, relation, answer.id) if side == "tail" else (answer.id, relation, tail)
        before, after = (filtered_rank(model, job.kg, side, full) for model in (job.baseline, job.model))
        reasons.append(f"in test: rank {before:g} by the baseline, {after:g} by this model")
    return reasons


if __name__ == "__main__":
    sys.exit(main())
