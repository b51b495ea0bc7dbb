"""What was found in the files of a data set, counted and said before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from mohone.data.index import mask_of
from mohone.data.reading import TripleFile


@dataclass(frozen=True)
class SplitCounts:
    """Lines of one split, and how its unique triples relate to the splits before it."""

    lines: int
    unique: int
    blank: int
    also_earlier: int
    unseen_entities: int
    unseen_relations: int
    unseen_triples: int


@dataclass(frozen=True)
class LoadReport:
    """Counts of a data set and what looks wrong in it."""

    name: str
    n_entities: int
    n_relations: int
    splits: dict[str, SplitCounts]
    warnings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for a JSON file."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The report as sentences, one a line."""
        entities = _count(self.n_entities, "entity", "entities")
        out = [f"{self.name}: {entities}, {_count(self.n_relations, 'relation')}"]
        for split, counts in self.splits.items():
            out.append(f"  {split}: {_split_sentence(counts)}")
        return out + [f"  warning: {warning}" for warning in self.warnings]


def _split_sentence(counts: SplitCounts) -> str:
    text = f"{_count(counts.lines, 'line')}, {counts.unique:,} unique"
    duplicates = counts.lines - counts.unique
    if duplicates:
        text += f", {_count(duplicates, 'duplicate')} (counted once)"
    if counts.blank:
        text += f", {_count(counts.blank, 'blank line')} skipped"
    if counts.also_earlier:
        text += f", {counts.also_earlier:,} also in an earlier split"
    if counts.unseen_triples:
        text += (
            f"; {_count(counts.unseen_entities, 'unseen entity', 'unseen entities')} and "
            f"{_count(counts.unseen_relations, 'unseen relation')} in "
            f"{_count(counts.unseen_triples, 'triple')}, ranked like all others"
        )
    return text


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def report_loading(
    name: str,
    files: Mapping[str, TripleFile],
    encoded: Mapping[str, Tensor],
    entities: Sequence[str],
    relations: Sequence[str],
) -> LoadReport:
    """Count what the files held.

    Args:
        encoded: for each split, `(n, 3)` unique id triples.
    """
    train = encoded["train"]
    seen_entities = mask_of(train[:, [0, 2]], len(entities))
    seen_relations = mask_of(train[:, 1], len(relations))
    counts = {}
    earlier = train.new_empty(0)
    for split, triples in encoded.items():
        ends = triples[:, [0, 2]]
        codes = (triples[:, 0] * len(relations) + triples[:, 1]) * len(entities) + triples[:, 2]
        new_ends, new_relation = ~seen_entities[ends], ~seen_relations[triples[:, 1]]
        counts[split] = SplitCounts(
            lines=len(files[split].triples),
            unique=len(triples),
            blank=files[split].n_blank,
            also_earlier=int(torch.isin(codes, earlier).sum()),
            unseen_entities=len(ends[new_ends].unique()),
            unseen_relations=len(triples[new_relation, 1].unique()),
            unseen_triples=int((new_ends.any(1) | new_relation).sum()),
        )
        earlier = torch.cat([earlier, codes])
    return LoadReport(name, len(entities), len(relations), counts, _warnings(entities, relations))


def _warnings(entities: Sequence[str], relations: Sequence[str]) -> list[str]:
    warnings = []
    if len(relations) >= len(entities):
        warnings.append(
            f"there are as many relations ({len(relations):,}) as entities ({len(entities):,}) or more: "
            "is a file written head, tail, relation?"
        )
    both = sorted(set(entities).intersection(relations))
    if both:
        warnings.append(
            f"{_count(len(both), 'name')} stand for an entity and a relation, such as {both[0]!r}: "
            "are the columns of all files in the same order?"
        )
    return warnings
