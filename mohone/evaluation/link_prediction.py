"""Link prediction: every triple's head and tail, each ranked in three settings from one score matrix.

- `filtered`: among all entities but the other known answers.
- `typed`: the same, among entities seen with that relation on that side in train, valid *or test*, as the
  paper's tool did. It knows the test set: an oracle, kept to be comparable with the paper.
- `typed_train`: candidates from train only, the right answer always added: the honest variant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import torch
from torch import Tensor

from mohone.data import SIDES, GroupIndex, KnowledgeGraph, answer_column, query_keys
from mohone.errors import TrainingError, require_choice
from mohone.evaluation.ranks import Pairs, Ranks, rank_all, rank_among
from mohone.progress import progress_bar

SETTINGS = ("filtered", "typed", "typed_train")
_CHUNK_ELEMENTS = 1 << 21  # A score matrix of 8 MB: memory stays constant and the cache warm.
_MAX_CHUNK = 1024


class Scorer(Protocol):
    """What can be evaluated: scores of all entities as tails or as heads, higher is better."""

    def score_tails(self, head: Tensor, relation: Tensor) -> Tensor:
        """`(batch, n_entities)`."""
        ...

    def score_heads(self, relation: Tensor, tail: Tensor) -> Tensor:
        """`(batch, n_entities)`."""
        ...


class LinkPrediction:
    """Ranks the triples of one split of `graph`; built once, used for any number of models.

    Known answers come from train and valid for `valid`, and from all three splits for `test`.

    Args:
        graph: the data set.
        split: `valid` or `test`.
        settings: any of `filtered`, `typed`, `typed_train`.
        chunk: queries scored at a time; None: as many as keep the score matrix at 8 MB.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        split: str,
        settings: tuple[str, ...] = SETTINGS,
        chunk: int | None = None,
    ) -> None:
        known = ("train", "valid") if split == "valid" else ("train", "valid", "test")
        self.settings = tuple(require_choice("settings", setting, SETTINGS) for setting in settings)
        self.triples: Tensor = getattr(graph, split)
        self.n_relations = graph.n_relations
        self._chunk = chunk or min(_MAX_CHUNK, max(1, _CHUNK_ELEMENTS // graph.n_entities))
        self._known = {side: graph.answers(side, *known) for side in SIDES}
        self._candidates = {
            (setting, side): graph.relation_candidates(side, *(known if setting == "typed" else ("train",)))
            for setting in self.settings
            for side in SIDES
            if setting != "filtered"
        }

    @torch.no_grad()
    def ranks(self, model: Scorer, description: str | None = None) -> dict[str, Ranks]:
        """Rank all triples of the split.

        Args:
            model: what gives the scores.
            description: of a progress bar; None: there is none.

        Returns:
            for each setting the ranks of `2 n` queries: first the n tails, then the n heads, both in the
            order of the split.

        Raises:
            TrainingError: if a score is not finite.
        """
        parts: dict[str, list[Ranks]] = {setting: [] for setting in self.settings}
        for side, triples in self._chunks(description):
            scores = _score(model, side, triples)
            answers = triples[:, answer_column(side)]
            for setting, ranks in self._rank_chunk(scores, side, triples, answers):
                parts[setting].append(ranks)
        return {setting: Ranks.cat(chunks) for setting, chunks in parts.items()}

    def mrr(self, model: Scorer) -> float:
        """Filtered (or the first setting's) mean reciprocal rank."""
        return float(self.ranks(model)[self.settings[0]].mean.reciprocal().mean())

    def _chunks(self, description: str | None) -> Iterator[tuple[str, Tensor]]:
        with progress_bar(description, 2 * len(self.triples)) as bar:
            for side in SIDES:
                for triples in self.triples.split(self._chunk):
                    yield side, triples
                    bar.update(len(triples))

    def _rank_chunk(
        self, scores: Tensor, side: str, triples: Tensor, answers: Tensor
    ) -> Iterator[tuple[str, Ranks]]:
        known = self._known[side].lookup(query_keys(triples, side, self.n_relations))
        for setting in self.settings:
            if setting == "filtered":
                yield setting, rank_all(scores, answers, known)
                continue
            index = self._candidates[setting, side]
            candidates = index.lookup(triples[:, 1])
            yield (
                setting,
                rank_among(scores, answers, candidates, _typed_known(known, triples[:, 1], index)),
            )


def _typed_known(known: Pairs, relation: Tensor, candidates: GroupIndex) -> Pairs:
    """Those known answers that are candidates of their relation."""
    rows, columns = known
    keep = candidates.contains(relation[rows], columns)
    return rows[keep], columns[keep]


def _score(model: Scorer, side: str, triples: Tensor) -> Tensor:
    head, relation, tail = triples.T
    # In full precision also where training is not: all figures of a job must be comparable.
    with torch.autocast(triples.device.type, enabled=False):
        scores = model.score_tails(head, relation) if side == "tail" else model.score_heads(relation, tail)
    # One pass tells in the usual case; a sum can overflow where no score is infinite.
    if not torch.isfinite(scores.sum()) and not torch.isfinite(scores).all():
        bad = int((~torch.isfinite(scores)).any(1).nonzero()[0])
        raise TrainingError(
            f"Scores must be finite, but those of {side} query {triples[bad].tolist()} "
            "(ids of head, relation, tail) are not: has training diverged?"
        )
    return scores
