"""Link prediction: every triple's head and tail, each ranked in some settings from the same scores.

- `filtered`: among all entities but the other known answers.
- `typed`: the same, among entities seen with that relation on that side in train, valid *or test*, as the
  paper's tool did. It knows the test set: an oracle, kept to be comparable with the paper.
- `typed_train`: candidates from train only, the right answer always added: the honest variant.
- `unlinked`: among the filtered candidates that no training triple links to the known entity. FB15k-237 was
  made so that no pair of valid or test is linked in train: who knows that needs no model to leave linked
  candidates out. Only for data sets of whose validation pairs none is linked.

Of a relation that train lacks nothing can be known: all entities are its candidates.

Up to 65,536 entities (on a CPU) a score matrix has all of them as columns. Larger graphs are ranked a block
of entities at a time: see `blocked`. Both count the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import torch
from torch import Tensor

from mohone.core.errors import ConfigError, require_choice
from mohone.core.progress import progress_bar
from mohone.data import GroupIndex, KnowledgeGraph, answer_column, query_keys
from mohone.evaluation.blocked import rank_in_blocks
from mohone.evaluation.chunks import BlockSize, Chunk, block_size, chunks_of, queries_at_once
from mohone.evaluation.filters import Filters
from mohone.evaluation.known_answers import MaskedScores, mask_known
from mohone.evaluation.ranks import Ranks, rank_all, rank_among, rank_without
from mohone.evaluation.sample import Estimate, Sample, estimate, extrapolate
from mohone.evaluation.scoring import Scorer, add_to_the_same, block_scorers, device_of, score_all
from mohone.evaluation.settings import ALL_SETTINGS, SETTINGS, UNLINKED
from mohone.kge.base import KGEModel


class LinkPrediction:
    """Ranks the triples of one split of `kg`; built once, used for any number of models.

    Known answers come from train and valid for `valid`, and from all three splits for `test`. Queries are
    scored in the order of their relations, so that candidates of a type are columns of a block, and models
    with a matrix for each relation use it once; equal queries stand together.

    Args:
        kg: the data set.
        split: `valid` or `test`.
        settings: any of `filtered`, `typed`, `typed_train`, `unlinked`.
        chunk: queries scored at a time; None: as many as keep the score matrix in a processor's cache.
        known: splits whose triples are known answers, if not the usual ones.
        block: entities scored at a time; None: all, up to a size of the graph.
        sample: which queries and candidates; all, unless it says less.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        split: str,
        settings: tuple[str, ...] = SETTINGS,
        chunk: int | None = None,
        known: tuple[str, ...] = (),
        *,
        block: int | None = None,
        sample: Sample | None = None,
    ) -> None:
        known = known or (("train", "valid") if split == "valid" else ("train", "valid", "test"))
        self.settings = tuple(require_choice("settings", setting, ALL_SETTINGS) for setting in settings)
        self.kg = kg
        self.triples: Tensor = getattr(kg, split)
        self.n_entities, self.n_relations = kg.n_entities, kg.n_relations
        self.sample = sample or Sample()
        if self.sample.candidates is not None and self.settings != ("filtered",):
            raise ConfigError("`settings` must be filtered alone where candidates are drawn, but are more.")
        self._chunk, self._block = chunk, block
        self._queries = self.sample.draw_queries(2 * len(self.triples))
        self._filters = Filters(kg, self.triples, self.settings, known, answers_known=split in known)

    def ranks(self, model: Scorer, description: str | None = None) -> dict[str, Ranks]:
        """Rank all triples of the split, or the queries that were drawn.

        Args:
            model: what gives the scores.
            description: of a progress bar; None: there is none.

        Returns:
            for each setting the ranks of `2 n` queries: first the n tails, then the n heads, both in the
            order of the split; of a sample those that were drawn, in the same order; on the CPU.

        Raises:
            TrainingError: if a score is not finite.
        """
        return self._ranks([model], description)[0]

    def ranks_of(self, models: Mapping[str, Scorer], description: str) -> dict[str, dict[str, Ranks]]:
        """The ranks by each of several models, as `ranks` has them.

        Where a large graph is ranked a block of entities at a time, and some models add to the scores of
        another, all are ranked together: what they add to is then scored once.

        Args:
            models: by name.
            description: of progress bars.

        Raises:
            TrainingError: if a score is not finite.
        """
        if self._can_rank_together(list(models.values())):
            return dict(zip(models, self._ranks(list(models.values()), description), strict=True))
        return {name: self.ranks(model, f"{description}, {name}") for name, model in models.items()}

    @torch.no_grad()
    def _ranks(self, models: list[Scorer], description: str | None) -> list[dict[str, Ranks]]:
        # Results that outlive a chunk are written into one place: scattered, they would split the heap.
        found = [{each: Ranks.empty(len(self._queries)) for each in self.settings} for _ in models]
        with progress_bar(description, len(self._queries)) as bar:
            for chunk in self._chunks(models):
                for number, setting, ranks in self._rank(models, chunk):
                    found[number][setting].put(chunk.places, ranks)
                bar.update(len(chunk.triples))
        return found

    def _can_rank_together(self, models: list[Scorer]) -> bool:
        """Are all ranked in blocks, by scores of which some are made of the same others?"""
        known = [model for model in models if isinstance(model, KGEModel)]
        in_blocks = len(known) == len(models) and self._block_size(models) is not None
        in_one_place = all(model.exchange is None and model.device == known[0].device for model in known)
        return in_blocks and in_one_place and add_to_the_same(known)

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
        total = torch.zeros(2, dtype=torch.float64, device=device_of(model))
        for chunk in self._chunks([model])[rank::world]:
            ranks = next(self._rank([model], chunk))[2].mean
            total += torch.stack([ranks.reciprocal().sum(), ranks.new_tensor(float(len(ranks)))])
        return total

    def mrr(self, model: Scorer) -> float:
        """Filtered (or the first setting's) mean reciprocal rank."""
        total, n = self.reciprocal_ranks(model).tolist()
        return float(total / n)

    def estimate(self, model: Scorer) -> Estimate:
        """That of the queries that were drawn, and between what that of all lies."""
        return estimate(self.ranks(model)[self.settings[0]], 2 * len(self.triples))

    @property
    def is_sampled(self) -> bool:
        """Is a part of the queries asked, or of the candidates compared?"""
        few = self.sample.candidates is not None and self.sample.candidates < self.n_entities
        return few or len(self._queries) < 2 * len(self.triples)

    @cached_property
    def _plans(self) -> dict[tuple[torch.device, int], list[Chunk]]:
        return {}

    def _chunks(self, models: list[Scorer]) -> list[Chunk]:
        """The chunks of both sides on the models' device, made once."""
        device, blocks = device_of(models[0]), self._block_size(models)
        size = self._chunk or (blocks.queries if blocks else queries_at_once(self.n_entities, device))
        key = device, size
        if key not in self._plans:
            self._plans[key] = chunks_of(self.triples, self._queries, size, device)
        return self._plans[key]

    def _block_size(self, models: list[Scorer]) -> BlockSize | None:
        """How it is ranked block by block; None: all entities are scored at once."""
        size: BlockSize | None = None
        for model in models:
            if not isinstance(model, KGEModel):
                return None
            always = self.sample.candidates is not None or model.exchange is not None
            own = block_size(self.n_entities, model.device, self._block, always)
            if own is None:
                return None
            own = own if model.block_queries is None else own.at_most(model.block_queries)
            size = own if size is None else size.at_most(own.queries)
        return size

    def _rank(self, models: list[Scorer], chunk: Chunk) -> Iterator[tuple[int, str, Ranks]]:
        """Ranks with the number of their model and their setting; of several models only in blocks."""
        blocks = self._block_size(models)
        if blocks is not None:
            known = [model for model in models if isinstance(model, KGEModel)]
            for number, ranks in enumerate(self._rank_in_blocks(known, chunk, blocks.entities)):
                yield from ((number, setting, ranks[setting]) for setting in self.settings)
            return
        yield from ((0, setting, ranks) for setting, ranks in self._rank_whole(models[0], chunk))

    def _rank_whole(self, model: Scorer, chunk: Chunk) -> Iterator[tuple[str, Ranks]]:
        side, triples = chunk.side, chunk.triples
        scores = score_all(model, side, triples)
        known = self._filters.known[side].to(scores.device)
        pairs = known.lookup(query_keys(triples, side, self.n_relations))
        masked = mask_known(scores, triples[:, answer_column(side)], pairs)
        for setting in self.settings:
            if setting == "filtered":
                yield setting, rank_all(masked)
            elif setting == UNLINKED:
                yield setting, self._rank_unlinked(masked, chunk)
            else:
                yield setting, self._rank_typed(masked, chunk, self._filters.candidates[setting, side])

    def _rank_in_blocks(self, models: list[KGEModel], chunk: Chunk, width: int) -> list[dict[str, Ranks]]:
        asked = self._filters.asked(chunk.side, chunk.triples)
        scorers = block_scorers(models, chunk.side, asked.triples)
        if self.sample.candidates is None:
            entities = torch.arange(self.n_entities, device=chunk.triples.device)
            return rank_in_blocks(scorers, asked, entities, width, models[0].exchange)
        entities = self.sample.draw_entities(self.n_entities).to(chunk.triples.device)
        n_candidates = asked.n_candidates(self.n_entities)
        ranked = rank_in_blocks(scorers, asked.among(entities), entities, width)
        return [{"filtered": extrapolate(ranks["filtered"], n_candidates)} for ranks in ranked]

    def _rank_unlinked(self, masked: MaskedScores, chunk: Chunk) -> Ranks:
        """Rank among the filtered candidates that train does not link to the known entity."""
        known = chunk.triples[:, 2 - answer_column(chunk.side)]
        pairs = self._filters.linked.to(known.device).lookup(known)
        return rank_without(masked, rank_all(masked), pairs)

    def _rank_typed(self, masked: MaskedScores, chunk: Chunk, candidates: GroupIndex) -> Ranks:
        """Rank the queries of each relation among its candidates: all entities if train lacks it."""
        members = candidates.to(masked.scores.device).members
        every = torch.arange(self.n_entities, device=members.device)
        unseen = self.kg.unseen_relations
        return Ranks.cat(
            [
                rank_among(masked, rows, every if relation in unseen else members[candidates.span(relation)])
                for relation, rows in chunk.relations
            ]
        )
