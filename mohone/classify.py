"""`python -m mohone.classify JOB`: is a triple plausible, and how well does a job's model tell that?

False triples are given, in files valid_negatives and test_negatives beside those of the data set or in
`--negatives`, or else drawn: one for each true triple, with another head or tail.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohone.core.command_line import Parser
from mohone.core.errors import LAST_SEED, DataError, require_choice, require_int
from mohone.core.files import check_file, check_folder
from mohone.core.terminal import exit_code, prepare_terminal
from mohone.core.words import counted
from mohone.opened.job_arguments import add_job_options, check_job, open_given

if TYPE_CHECKING:
    from torch import Tensor

    from mohone.evaluation.classification import Classifier
    from mohone.opened.finished import FinishedJob

log = logging.getLogger(__name__)


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if nothing was classified."""
    prepare_terminal()
    parser = Parser(
        prog="python -m mohone.classify",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("job", type=Path, metavar="JOB", help="the folder of a job that has ended")
    parser.add_argument(
        "--triples", type=Path, metavar="FILE", help="say of each of these how plausible it is"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write .json; of triples .tsv or .parquet")
    parser.add_argument("--negatives", type=Path, metavar="FOLDER", help="valid_negatives and test_negatives")
    parser.add_argument("--drawn", action="store_true", help="draw false triples even where some are given")
    parser.add_argument("--typed", action="store_true", help="draw entities that train has on that side")
    parser.add_argument("--seed", type=int, default=0, help="of the draw; 0 if not given")
    parser.add_argument("--baseline", action="store_true", help="of the model before the infusion")
    add_job_options(parser)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    return exit_code(lambda: _classify(given))


def _classify(given: argparse.Namespace) -> None:
    require_int("--seed", given.seed, 0, LAST_SEED)
    if given.out:
        endings = (".tsv", ".parquet") if given.triples else (".json",)
        require_choice("the ending of --out", given.out.suffix, endings)
    check_file("--triples", given.triples)
    check_folder("--negatives", given.negatives)
    check_job(given.job, given)
    # Torch and Lightning take seconds: help and typos should not.
    from mohone.core.files import write_json
    from mohone.data.named_triples import read_known
    from mohone.evaluation.classification import fit_classifier

    job = open_given(given.job, given)
    delimiter = job.result["config"]["dataset"].get("delimiter", "\t")
    asked = read_known(given.triples, job.kg, delimiter) if given.triples else None
    folder = _folder_of_negatives(given, job)
    valid = _negatives(given, job, folder, "valid")
    classifier = fit_classifier(job.baseline if given.baseline else job.model, job.kg, valid)
    if asked is not None:
        _say_verdicts(given, job, classifier, asked)
        return
    report = classifier.report(job.kg.test, _negatives(given, job, folder, "test"))
    names = job.kg.relations.names
    report["relations"] = {names[r]: figures for r, figures in report["relations"].items()}
    report["negatives"] = str(folder) if folder else f"drawn{', typed' if given.typed else ''}"
    print("\n".join(_text(report)))
    if given.out:
        write_json(given.out, report)


def _folder_of_negatives(given: argparse.Namespace, job: FinishedJob) -> Path | None:
    """Where false triples are given; None: they are drawn."""
    if given.drawn:
        return None
    if given.negatives:
        return Path(given.negatives)
    from mohone.data.datasets import files_of

    path = job.result["config"]["dataset"].get("path")
    return Path(path) if path and files_of(Path(path), "valid_negatives") else None


def _negatives(given: argparse.Namespace, job: FinishedJob, folder: Path | None, split: str) -> Tensor:
    from mohone.data.corruption import draw_negatives
    from mohone.data.datasets import find_file
    from mohone.data.knowledge_graph import splits_of
    from mohone.data.named_triples import read_known

    if folder is None:
        return draw_negatives(job.kg, split, given.typed, given.seed)
    path = find_file(folder, f"{split}_negatives")
    triples = read_known(path, job.kg, job.result["config"]["dataset"].get("delimiter", "\t"))
    if len(triples) == 0:
        raise DataError(f"{path} must hold triples, but is empty.")
    n_true = int((splits_of(job.kg, triples) >= 0).sum())
    if n_true:
        log.warning("%s: %s of the data set, which count as false ones", path, counted(n_true, "triple"))
    return triples


def _say_verdicts(
    given: argparse.Namespace, job: FinishedJob, classifier: Classifier, triples: Tensor
) -> None:
    """A line for each triple: it, its probability, the verdict, and the split that has it, if one has."""
    from mohone.data.knowledge_graph import SPLITS, splits_of
    from mohone.opened.answering import write_table

    entities, relations = job.kg.entities.names, job.kg.relations.names
    verdicts = classifier.classify(triples)
    splits = splits_of(job.kg, triples).tolist()
    parts = zip(triples.tolist(), *(each.tolist() for each in verdicts), splits, strict=True)
    lines = (
        f"{entities[h]}\t{relations[r]}\t{entities[t]}\t{probability:.4f}\t"
        f"{'plausible' if plausible else 'implausible'}\t{SPLITS[split] if split >= 0 else ''}"
        for (h, r, t), probability, plausible, split in parts
    )
    columns = ["head", "relation", "tail", "probability", "verdict", "split"]
    if given.out:
        print(f"{given.out}: {write_table(given.out, columns, lines):,} triples")
        return
    print("\t".join(columns))
    for line in lines:
        print(line)


def _text(report: dict[str, Any]) -> list[str]:
    """The report as lines of text."""
    lines = [f"{report['n_true']:,} true and {report['n_false']:,} false triples ({report['negatives']})"]
    for key, name in (
        ("accuracy", "accuracy"),
        ("roc_auc", "ROC-AUC"),
        ("average_precision", "average precision"),
        ("brier", "Brier score"),
    ):
        lines.append(f"{name:<18} {report[key]:.4f}")
    lines.append("probability   triples   mean    true")
    for each in report["reliability"]:
        bounds = f"{each['from']:.1f} to {each['to']:.1f}"
        lines.append(f"{bounds:<12} {each['n']:>8,}   {each['probability']:.3f}   {each['true']:.3f}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
