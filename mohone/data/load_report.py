"""What was found in the files of a data set, counted and said before anything is trained."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from torch import Tensor

from mohone.core.words import counted
from mohone.data.index import mask_of, triple_keys
from mohone.data.leaks import Leaks, find_leaks
from mohone.data.links import contains
from mohone.data.reading import TripleFile

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SplitCounts:
    """Lines of one split, and how its unique triples relate to the splits before it.

    Attributes:
        repeats: for each split before it, how many of the triples that one has, too.
        unseen_entities, unseen_relations: those that train lacks, and `unseen_triples` that hold one.
    """

    lines: int
    unique: int
    blank: int
    repeats: dict[str, int]
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
    leaks: Leaks = field(default_factory=Leaks)
    warnings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for a JSON file."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The report as sentences, one a line."""
        entities = counted(self.n_entities, "entity", "entities")
        out = [f"{self.name}: {entities}, {counted(self.n_relations, 'relation')}"]
        for split, counts in self.splits.items():
            linked = self.leaks.triples if split == "test" else 0
            out.append(f"  {split}: {_split_sentence(counts, linked)}")
        return out + [f"  warning: {warning}" for warning in self.warnings]

    def log_warnings(self) -> None:
        """Log what looks wrong, for those who see no report: from Python."""
        for warning in self.warnings:
            log.warning("%s: %s", self.name, warning)


def _split_sentence(counts: SplitCounts, linked: int) -> str:
    text = f"{counted(counts.lines, 'line')}, {counts.unique:,} unique"
    duplicates = counts.lines - counts.unique
    if duplicates:
        text += f", {counted(duplicates, 'duplicate')} (counted once)"
    if counts.blank:
        text += f", {counted(counts.blank, 'blank line')} skipped"
    for other, repeated in counts.repeats.items():
        if repeated:
            text += f", {repeated:,} also in {other}"
    if linked:
        text += f", {linked:,} of entities that train links by another relation or the other way round"
    if counts.unseen_triples:
        text += (
            f"; {counted(counts.unseen_entities, 'unseen entity', 'unseen entities')} and "
            f"{counted(counts.unseen_relations, 'unseen relation')} in "
            f"{counted(counts.unseen_triples, 'triple')}, ranked like all others"
        )
    return text


def report_loading(
    name: str,
    files: Mapping[str, TripleFile],
    encoded: Mapping[str, Tensor],
    n_entities: int,
    relations: Sequence[str],
    both: Sequence[str],
) -> LoadReport:
    """Count what the files held.

    Args:
        encoded: for each split, `(n, 3)` unique id triples, sorted.
        relations: their names.
        both: names of an entity and a relation.
    """
    train = encoded["train"]
    codes = {
        split: triple_keys(triples, n_entities, len(relations)).numpy() for split, triples in encoded.items()
    }
    seen_entities = mask_of(train[:, [0, 2]], n_entities)
    seen_relations = mask_of(train[:, 1], len(relations))
    counts: dict[str, SplitCounts] = {}
    for split, triples in encoded.items():
        told = triples[:0] if split == "train" else triples  # What train has, it has seen.
        ends = told[:, [0, 2]]
        new_ends, new_relation = ~seen_entities[ends], ~seen_relations[told[:, 1]]
        counts[split] = SplitCounts(
            lines=len(files[split].triples),
            unique=len(triples),
            blank=files[split].n_blank,
            repeats={earlier: int(contains(codes[earlier], codes[split]).sum()) for earlier in counts},
            unseen_entities=len(ends[new_ends].unique()),
            unseen_relations=len(told[new_relation, 1].unique()),
            unseen_triples=int((new_ends.any(1) | new_relation).sum()),
        )
    leaks = find_leaks(train, encoded["valid"], encoded["test"], n_entities, relations)
    warnings = [*_exchanged(n_entities, len(relations), both), *_repeated(counts), *leaks.warnings()]
    return LoadReport(name, n_entities, len(relations), counts, leaks, warnings)


def _repeated(counts: Mapping[str, SplitCounts]) -> list[str]:
    """What stands in two splits, a sentence for each two of them."""
    reasons = {
        ("train", "test"): "a model has seen these answers, so that its figures on test are no measure",
        ("train", "valid"): "what is chosen on validation is chosen on answers that were seen",
        ("valid", "test"): "the figures on test are those that choices were made on",
    }
    return [
        f"{repeated:,} of {counted(each.unique, f'{split} triple')} ({repeated / each.unique:.1%}) "
        f"{'stand' if repeated > 1 else 'stands'} in {earlier}, too: {reasons[earlier, split]}"
        for split, each in counts.items()
        for earlier, repeated in each.repeats.items()
        if repeated
    ]


def _exchanged(n_entities: int, n_relations: int, both: Sequence[str]) -> list[str]:
    warnings = []
    if n_relations >= n_entities:
        warnings.append(
            f"there are as many relations ({n_relations:,}) as entities ({n_entities:,}) or more: "
            "is a file written head, tail, relation?"
        )
    if both:
        warnings.append(
            f"{counted(len(both), 'name stands', 'names stand')} for an entity and a relation, "
            f"such as {both[0]!r}: are the columns of all files in the same order?"
        )
    return warnings
