"""Many queries answered as a table: lines that come while they are made, or a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mohone.core.errors import require_choice
from mohone.core.files import replacing
from mohone.data import KnowledgeGraph
from mohone.data.knowledge_graph import SPLITS
from mohone.data.opening import need_pyarrow
from mohone.data.queries import ASKED, QueryLines
from mohone.evaluation.best_answers import AnswerFinder, Wanted
from mohone.kge import KGEModel

_MOST_QUERIES = 1 << 12  # Answered at once,
_MOST_ANSWERS = 1 << 24  # and their answers.
_ROWS = 1 << 14  # Of a parquet file that are held at once.
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

    @property
    def batch_size(self) -> int:
        """Queries that are answered at once: of many answers each takes some 20 bytes."""
        return max(1, min(_MOST_QUERIES, _MOST_ANSWERS // self._finder.width))

    @cached_property
    def _finder(self) -> AnswerFinder:
        return AnswerFinder(self.kg, self.wanted)

    def lines(self, batches: Iterable[QueryLines]) -> Iterator[str]:
        """The lines below the names, tab-separated, batch by batch."""
        entities, relations = self.kg.entities.names, self.kg.relations.names
        for triples, numbers in batches:
            best = self._finder.find(self.model, triples)
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
        ConfigError: another ending, or parquet where pyarrow is not installed.
    """
    require_choice("the ending of --out", path.suffix, TABLES)
    if path.suffix == ".parquet":
        need_pyarrow(path)


def write_table(path: Path, columns: list[str], lines: Iterable[str]) -> int:
    """Write a table of tab-separated lines, whole or not at all; returns how many lines it has.

    Args:
        path: `.tsv`, with a line of names, or `.parquet`; see `check_table`.
        columns: their names.
        lines: of text; no more than some thousands are held.
    """
    check_table(path)
    with replacing(path) as part:
        return (_write_parquet if path.suffix == ".parquet" else _write_text)(part, columns, lines)


def _write_text(path: Path, columns: list[str], lines: Iterable[str]) -> int:
    n = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\t".join(columns) + "\n")
        for line in lines:
            file.write(line + "\n")
            n += 1
    return n


def _write_parquet(path: Path, columns: list[str], lines: Iterable[str]) -> int:
    """The same table with numbers as numbers."""
    import pyarrow
    from pyarrow import parquet

    whole, real = pyarrow.int64(), pyarrow.float64()
    kinds = {"query": whole, "rank": whole, "score": real, "probability": real}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in columns])
    n, rest = 0, iter(lines)
    with parquet.ParquetWriter(path, schema) as writer:
        while batch := [line.split("\t") for line in itertools.islice(rest, _ROWS)]:
            texts = [pyarrow.array(column) for column in zip(*batch, strict=True)]
            arrays = [text.cast(kind) for text, kind in zip(texts, schema.types, strict=True)]
            writer.write_table(pyarrow.table(arrays, schema=schema))
            n += len(batch)
    return n
