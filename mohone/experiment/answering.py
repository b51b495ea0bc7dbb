"""Many queries answered as a table: lines that come while they are made, or a file."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mohone.core.errors import ConfigError, require_choice
from mohone.core.files import replacing
from mohone.data import KnowledgeGraph
from mohone.data.knowledge_graph import SPLITS
from mohone.data.queries import ASKED, QueryLines
from mohone.evaluation.best_answers import AnswerFinder, Wanted
from mohone.kge import KGEModel

TABLES = (".tsv", ".parquet")


@dataclass(frozen=True)
class AnswerTable:
    """A line for each answer: number of the query, head, relation, tail (the answer filled in), rank, score.

    Attributes:
        model: gives the scores.
        kg: the data set.
        wanted: which answers; of known ones a column says the split.
        labels: readable ones by name; a column has the answer's.
    """

    model: KGEModel
    kg: KnowledgeGraph
    wanted: Wanted
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Their names."""
        more = ["split"] * self.wanted.known + ["label"] * bool(self.labels)
        return ["query", "head", "relation", "tail", "rank", "score", *more]

    def lines(self, batches: Iterable[QueryLines]) -> Iterator[str]:
        """The lines below the names, tab-separated, batch by batch."""
        finder = AnswerFinder(self.kg, self.wanted)
        entities, relations = self.kg.entities.names, self.kg.relations.names
        for triples, numbers in batches:
            best = finder.find(self.model, triples)
            answers = zip(triples.tolist(), numbers, *(each.tolist() for each in best), strict=True)
            for (head, relation, tail), number, ids, scores, splits in answers:
                side = [head, relation, tail].index(ASKED)
                fields = [entities[head], relations[relation], entities[tail]]
                names = relations if side == 1 else entities
                for rank, (i, score, split) in enumerate(zip(ids, scores, splits, strict=True), start=1):
                    if i < 0:
                        break
                    fields[side] = names[i]
                    line = f"{number}\t{fields[0]}\t{fields[1]}\t{fields[2]}\t{rank}\t{score:.6g}"
                    if self.wanted.known:
                        line += f"\t{SPLITS[split] if split >= 0 else ''}"
                    yield f"{line}\t{self.labels.get(names[i], '')}" if self.labels else line


def check_table(path: Path) -> None:
    """Can a table be written to this file?

    Raises:
        ConfigError: another ending, or parquet where polars is not installed.
    """
    require_choice("the ending of --out", path.suffix, TABLES)
    if path.suffix == ".parquet" and importlib.util.find_spec("polars") is None:
        raise ConfigError("`polars` must be installed for a .parquet, but is not: write .tsv instead.")


def write_table(path: Path, columns: list[str], lines: Iterable[str]) -> int:
    """Write a table of tab-separated lines, whole or not at all; returns how many lines it has.

    Args:
        path: `.tsv`, with a line of names, or `.parquet`; see `check_table`.
        columns: their names.
        lines: of text; no more than one is held.
    """
    check_table(path)
    n = 0
    with contextlib.ExitStack() as stack:
        part = stack.enter_context(replacing(path))
        text = part if path.suffix == ".tsv" else stack.enter_context(_aside(path))
        with text.open("w", encoding="utf-8", newline="\n") as file:
            file.write("\t".join(columns) + "\n")
            for line in lines:
                file.write(line + "\n")
                n += 1
        if text != part:
            _to_parquet(text, part, columns)
    return n


@contextlib.contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A file beside, gone afterwards."""
    text = path.with_name(f".{path.name}.{id(path):x}.tsv")
    try:
        yield text
    finally:
        text.unlink(missing_ok=True)


def _to_parquet(text: Path, out: Path, columns: list[str]) -> None:
    """The same table as parquet, without holding it."""
    import polars as pl

    kinds = {"query": pl.Int64, "rank": pl.Int64, "score": pl.Float64, "probability": pl.Float64}
    schema = {name: kinds.get(name, pl.String) for name in columns}
    pl.scan_csv(text, separator="\t", quote_char=None, schema=schema).sink_parquet(out)
