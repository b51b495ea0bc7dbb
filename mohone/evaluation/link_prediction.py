"""Link prediction: every triple's head and tail, each ranked in some settings from one score matrix.

- `filtered`: among all entities but the other known answers.
- `typed`: the same, among entities seen with that relation on that side in train, valid *or test*, as the
  paper's tool did. It knows the test set: an oracle, kept to be comparable with the paper.
- `typed_train`: candidates from train only, the right answer always added: the honest variant.
- `unlinked`: among the filtered candidates that no training triple links to the known entity. FB15k-237 was
  made so that no pair of valid or test is linked in train: who knows that needs no model to leave linked
  candidates out. Only for data sets of whose validation pairs none is linked.

Of a relation that train lacks nothing can be known: all entities are its candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from mohone.core.errors import TrainingError, require_choice
from mohone.core.progress import progress_bar
from mohone.data import SIDES, GroupIndex, KnowledgeGraph, answer_column, query_keys
from mohone.evaluation.known_answers import MaskedScores, mask_known
from mohone.evaluation.ranks import (
    Ranks,
    rank_all,
    rank_among,
    rank_without,
)
from mohone.evaluation.settings import ALL_SETTINGS, SETTINGS, UNLINKED

# Elements of a score matrix: memory stays constant, and 8 MB stay in a processor's cache.
_CHUNK_ELEMENTS = {"cpu": 1 << 21, "cuda": 1 << 26}
_MAX_CHUNK = {"cpu": 1024, "cuda": 1 << 14}


class Scorer(Protocol):
    """What can be evaluated: scores of all entities as tails or as heads, higher is better.

    It may have a `device`, where queries are to be; else they are on the CPU.
    """

    def score_tails(self, head: Tensor, relation: Tensor) -> Tensor:
        """`(batch, n_entities)`."""
        ...

    def score_heads(self, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch, n_entities)`."""
        ...


class _Chunk(NamedTuple):
    """Queries scored at once, sorted by relation, and where in them each relation is.

    `places` says where among all queries, tails first, each of them belongs.
    """

    side: str
    triples: Tensor
    places: Tensor
    relations: list[tuple[int, slice]]


class LinkPrediction:
    """Ranks the triples of one split of `kg`; built once, used for any number of models.

    Known answers come from train and valid for `valid`, and from all three splits for `test`. Queries are
    scored in the order of their relations, so that candidates of a type are columns of a block, and models
    with a matrix for each relation use it once.

    Args:
        kg: the data set.
        split: `valid` or `test`.
        settings: any of `filtered`, `typed`, `typed_train`, `unlinked`.
        chunk: queries scored at a time; None: as many as keep the score matrix in a processor's cache.
        known: splits whose triples are known answers, if not the usual ones.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        split: str,
        settings: tuple[str, ...] = SETTINGS,
        chunk: int | None = None,
        known: tuple[str, ...] = (),
    ) -> None:
        known = known or (("train", "valid") if split == "valid" else ("train", "valid", "test"))
        self.settings = tuple(require_choice("settings", setting, ALL_SETTINGS) for setting in settings)
        self.kg = kg
        self.triples: Tensor = getattr(kg, split)
        self.n_entities, self.n_relations = kg.n_entities, kg.n_relations
        self._chunk = chunk
        self._order = self.triples[:, 1].argsort(stable=True)
        self._known = {side: kg.answers(side, *known) for side in SIDES}
        self._unseen = kg.unseen_relations
        self._candidates = {
            (setting, side): kg.relation_candidates(side, *(known if setting == "typed" else ("train",)))
            for setting in self.settings
            for side in SIDES
            if setting.startswith("typed")
        }

    @torch.no_grad()
    def ranks(self, model: Scorer, description: str | None = None) -> dict[str, Ranks]:
        """Rank all triples of the split.

        Args:
            model: what gives the scores.
            description: of a progress bar; None: there is none.

        Returns:
            for each setting the ranks of `2 n` queries: first the n tails, then the n heads, both in the
            order of the split; on the CPU.

        Raises:
            TrainingError: if a score is not finite.
        """
        # Results that outlive a chunk are written into one place: scattered, they would split the heap.
        found = {setting: Ranks.empty(2 * len(self.triples)) for setting in self.settings}
        with progress_bar(description, 2 * len(self.triples)) as bar:
            for chunk in self._chunks(_device_of(model)):
                for setting, ranks in self._rank(model, chunk):
                    found[setting].put(chunk.places, ranks)
                bar.update(len(chunk.triples))
        return found

    @torch.no_grad()
    def reciprocal_ranks(self, model: Scorer, rank: int = 0, world: int = 1) -> Tensor:
        """Sum and number of the reciprocal ranks (filtered, or the first setting's), for a mean of them.

        Args:
            model: what gives the scores.
            rank: which of the `world` parts of the split.
            world: over so many parts every query counts once.

        Returns:
            `(2,)` float64, on the model's device.
        """
        device = _device_of(model)
        total = torch.zeros(2, dtype=torch.float64, device=device)
        for chunk in self._chunks(device)[rank::world]:
            ranks = next(self._rank(model, chunk))[1].mean
            total += torch.stack([ranks.reciprocal().sum(), ranks.new_tensor(float(len(ranks)))])
        return total

    def mrr(self, model: Scorer) -> float:
        """Filtered (or the first setting's) mean reciprocal rank."""
        total, n = self.reciprocal_ranks(model).tolist()
        return float(total / n)

    @cached_property
    def _plans(self) -> dict[torch.device, list[_Chunk]]:
        return {}

    def _chunks(self, device: torch.device) -> list[_Chunk]:
        """The chunks of both sides on a device, made once."""
        if device not in self._plans:
            size = self._chunk or queries_at_once(self.n_entities, device)
            self._plans[device] = [
                self._plan(side, places, device) for side in SIDES for places in self._order.split(size)
            ]
        return self._plans[device]

    def _plan(self, side: str, places: Tensor, device: torch.device) -> _Chunk:
        triples = self.triples[places]
        first = SIDES.index(side) * len(self.triples)
        return _Chunk(side, triples.to(device), first + places, _relations(triples))

    def _rank(self, model: Scorer, chunk: _Chunk) -> Iterator[tuple[str, Ranks]]:
        side, triples = chunk.side, chunk.triples
        scores = score_all(model, side, triples)
        known = self._known[side].to(scores.device).lookup(query_keys(triples, side, self.n_relations))
        masked = mask_known(scores, triples[:, answer_column(side)], known)
        for setting in self.settings:
            if setting == "filtered":
                yield setting, rank_all(masked)
            elif setting == UNLINKED:
                yield setting, self._rank_unlinked(masked, chunk)
            else:
                index = self._candidates[setting, side]
                yield setting, self._rank_typed(masked, chunk, index)

    def _rank_unlinked(self, masked: MaskedScores, chunk: _Chunk) -> Ranks:
        """Rank among the filtered candidates that train does not link to the known entity."""
        known = chunk.triples[:, 2 - answer_column(chunk.side)]
        pairs = self.kg.linked.to(known.device).lookup(known)
        return rank_without(masked, rank_all(masked), pairs)

    def _rank_typed(self, masked: MaskedScores, chunk: _Chunk, candidates: GroupIndex) -> Ranks:
        """Rank the queries of each relation among its candidates: all entities if train lacks it."""
        members = candidates.to(masked.scores.device).members
        every = torch.arange(self.n_entities, device=members.device)
        return Ranks.cat(
            [
                rank_among(
                    masked, rows, every if relation in self._unseen else members[candidates.span(relation)]
                )
                for relation, rows in chunk.relations
            ]
        )


def queries_at_once(n_entities: int, device: torch.device) -> int:
    """So many queries have scores of all entities that stay in a processor's cache."""
    fitting = _CHUNK_ELEMENTS.get(device.type, 1 << 21) // n_entities
    return min(_MAX_CHUNK.get(device.type, 1024), max(1, fitting))


def _relations(triples: Tensor) -> list[tuple[int, slice]]:
    relations, counts = torch.unique_consecutive(triples[:, 1], return_counts=True)
    ends = counts.cumsum(0).tolist()
    starts = [0, *ends[:-1]]
    return [
        (relation, slice(start, end))
        for relation, start, end in zip(relations.tolist(), starts, ends, strict=True)
    ]


def _device_of(model: Scorer) -> torch.device:
    device: torch.device = getattr(model, "device", torch.device("cpu"))
    return device


def score_all(model: Scorer, side: str, triples: Tensor) -> Tensor:
    """The scores of all entities as answers on `side`, in full precision: `(n, n_entities)`.

    Args:
        model: what gives the scores.
        side: `tail` or `head`.
        triples: `(n, 3)`; their answers play no part.

    Raises:
        TrainingError: if a score is not finite.
    """
    head, relation, tail = triples.T
    # In full precision also where training is not: all figures of a job must be comparable.
    with torch.autocast(triples.device.type, enabled=False):
        scores = model.score_tails(head, relation) if side == "tail" else model.score_heads(relation, tail)
    # One pass tells in the usual case; a sum can overflow where no score is infinite.
    if not torch.isfinite(scores.sum()) and not torch.isfinite(scores).all():
        bad = int((~torch.isfinite(scores)).any(1).nonzero()[0])
        raise TrainingError(
            f"Scores must be finite, but those of {side} query {triples[bad].tolist()} "
            "(ids of head, relation, tail) are not."
        )
    return scores
