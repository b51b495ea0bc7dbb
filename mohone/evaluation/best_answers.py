"""The best answers to queries: entities for a head or a tail, relations for a pair of entities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.core.errors import require_bool, require_int
from mohone.data import GroupIndex, KnowledgeGraph
from mohone.data.index import mask_of
from mohone.data.knowledge_graph import SPLITS, answer_column, query_keys, splits_of
from mohone.data.queries import ASKED
from mohone.evaluation.best_columns import best_columns
from mohone.evaluation.best_in_blocks import best_in_blocks
from mohone.evaluation.chunks import block_size, queries_at_once
from mohone.evaluation.filters import group_of
from mohone.evaluation.known_answers import Pairs
from mohone.evaluation.scoring import block_scorer, score_all
from mohone.evaluation.triple_scores import score_relations
from mohone.kge import KGEModel

_COLUMNS = {"tail": 2, "head": 0, "relation": 1}


@dataclass(frozen=True)
class Wanted:
    """Which answers are wanted.

    Attributes:
        top: at most so many.
        known: also those whose triple the data set has, in whatever split.
        typed: only those that train has with the relation on that side (of a relation asked for: with the
            head on its heads' side and the tail on its tails'); a relation that train lacks takes all.
        own: may an entity be the answer to a query of its own? None: where the data set has a triple from an
            entity to itself by that relation. Else a short translation, or a symmetric product, makes an
            entity its own best answer to most queries, though the data say that it never is one. Evaluation
            ranks it like all others.
    """

    top: int = 10
    known: bool = False
    typed: bool = False
    own: bool | None = None

    def __post_init__(self) -> None:
        require_int("top", self.top, 1)
        require_bool("known", self.known)
        require_bool("typed", self.typed)
        if self.own is not None:
            require_bool("own", self.own)


class Answer(NamedTuple):
    """An answer: name, score, the first split that has the triple (empty: none), its id."""

    name: str
    score: float
    split: str
    id: int


class Best(NamedTuple):
    """The best answers to n queries, best first, equal ones in the order of their names.

    Attributes:
        ids: `(n, top)` entities or relations; -1: there are no more.
        scores: `(n, top)`.
        splits: `(n, top)` number of the first split that has the triple; -1: none has.
    """

    ids: Tensor
    scores: Tensor
    splits: Tensor


class AnswerFinder:
    """Finds the answers that are wanted; built once, for any number of models and queries.

    Args:
        kg: the data set.
        wanted: which answers.
        block: entities scored at a time; None: all, up to a size of the graph.
    """

    def __init__(self, kg: KnowledgeGraph, wanted: Wanted, block: int | None = None) -> None:
        self.kg, self.wanted, self._block = kg, wanted, block
        self._known: dict[str, GroupIndex] = {}
        self._candidates: dict[str, GroupIndex] = {}
        self._unseen = mask_of(torch.tensor(sorted(kg.unseen_relations), dtype=torch.int64), kg.n_relations)

    @property
    def width(self) -> int:
        """Most answers to a query: those that are wanted, or all that there may be."""
        return min(self.wanted.top, max(self.kg.n_entities, self.kg.n_relations))

    @torch.no_grad()
    def find(self, model: KGEModel, triples: Tensor) -> Best:
        """The best answers to queries of any kinds.

        Args:
            model: gives the scores.
            triples: `(n, 3)` ids, one of each row `ASKED`.

        Raises:
            TrainingError: if a score is not finite.
        """
        n, top = len(triples), self.width
        out = Best(torch.full((n, top), -1), torch.full((n, top), -torch.inf), torch.full((n, top), -1))
        for side, column in _COLUMNS.items():
            rows = (triples[:, column] == ASKED).nonzero().flatten()
            if not len(rows):
                continue
            rows = rows[triples[rows, 1].argsort(stable=True)]  # A model with matrices uses each once.
            blocks = None if side == "relation" else block_size(self.kg.n_entities, model.device, self._block)
            if blocks is None:
                for part in rows.split(queries_at_once(self.kg.n_entities, model.device)):
                    self._answer(model, side, triples[part], part, out)
            else:
                for part in rows.split(min(blocks.queries, model.block_queries or blocks.queries)):
                    self._answer_in_blocks(model, side, triples[part], part, out, blocks.entities)
        return out

    def _answer(self, model: KGEModel, side: str, triples: Tensor, rows: Tensor, out: Best) -> None:
        """Write the answers to queries of one side to their rows of `out`."""
        if side == "relation":
            scores = score_relations(model, triples)
        else:
            scores = score_all(model, side, triples.to(model.device)).cpu()
        left_out = self._left_out(side, triples, scores)
        columns = best_columns(scores.masked_fill_(left_out, -torch.inf), self.wanted.top)
        self._write(side, triples, rows, out, columns, scores.gather(1, columns))

    def _answer_in_blocks(
        self, model: KGEModel, side: str, triples: Tensor, rows: Tensor, out: Best, width: int
    ) -> None:
        """The same, of entities scored some at a time."""
        score = block_scorer(model, side, triples.to(model.device))
        known = None if self.wanted.known else self.kg.answers(side, *SPLITS, of=triples)
        types = None
        if self.wanted.typed:
            types = group_of(self._of_type(side), triples[:, 1], self.kg.unseen_relations)
        entities = torch.arange(self.kg.n_entities, device=model.device)
        left_out = self._pairs_left_out(side, triples, known)
        best = best_in_blocks(score, len(triples), left_out, types, entities, self.wanted.top, width)
        self._write(side, triples, rows, out, best.ids, best.scores)

    def _write(
        self, side: str, triples: Tensor, rows: Tensor, out: Best, columns: Tensor, values: Tensor
    ) -> None:
        ids = columns.masked_fill(values == -torch.inf, -1)
        k = columns.shape[1]
        out.ids[rows, :k], out.scores[rows, :k] = ids, values
        if self.wanted.known:
            full = triples[:, None].repeat(1, k, 1)
            full[:, :, _COLUMNS[side]] = columns
            splits = splits_of(self.kg, full.flatten(0, 1)).view_as(ids)
            out.splits[rows, :k] = splits.masked_fill(ids < 0, -1)

    def _left_out(self, side: str, triples: Tensor, scores: Tensor) -> Tensor:
        """What is no candidate of each query: `(n, n_candidates)` of bool."""
        out = torch.zeros_like(scores, dtype=torch.bool)
        if self.wanted.typed:
            out |= ~self._typed(side, triples, out)
        if not self.wanted.known and side not in self._known:
            self._known[side] = _known_answers(self.kg, side)
        out[self._pairs_left_out(side, triples, self._known.get(side))] = True
        return out

    def _pairs_left_out(self, side: str, triples: Tensor, known: GroupIndex | None) -> Pairs:
        """The known answers, and perhaps the known entities: rows and columns."""
        rows, columns = triples.new_empty(2, 0)
        if known is not None:
            rows, columns = known.lookup(_keys(self.kg, side, triples))
        if side != "relation" and self.wanted.own is not True:
            own, every = triples[:, 2 - answer_column(side)], torch.arange(len(triples))
            barred = slice(None) if self.wanted.own is False else ~self._with_loops[triples[:, 1]]
            rows, columns = torch.cat([rows, every[barred]]), torch.cat([columns, own[barred]])
        return rows, columns

    @cached_property
    def _with_loops(self) -> Tensor:
        """`(n_relations,)` of bool: has the data set a triple of it from an entity to itself?"""
        head, relation, tail = self.kg.triples(*SPLITS).T
        return mask_of(relation[head == tail], self.kg.n_relations)

    def _typed(self, side: str, triples: Tensor, like: Tensor) -> Tensor:
        """What train has with the relation on that side, or all if train lacks the relation."""
        out = torch.zeros_like(like)
        if side != "relation":
            out[self._of_type(side).lookup(triples[:, 1])] = True
            return out | self._unseen[triples[:, 1], None]
        out[self._of_type("relation of head").lookup(triples[:, 0])] = True
        tails = torch.zeros_like(like)
        tails[self._of_type("relation of tail").lookup(triples[:, 2])] = True
        return (out & tails) | self._unseen

    def _of_type(self, kind: str) -> GroupIndex:
        """The entities of each relation's side, or the relations that have each entity on a side."""
        if kind not in self._candidates:
            head, relation, tail = self.kg.train.T
            if kind in ("tail", "head"):
                self._candidates[kind] = self.kg.relation_candidates(kind, "train")
            else:
                ends = head if kind.endswith("head") else tail
                self._candidates[kind] = GroupIndex.from_pairs(ends, relation, self.kg.n_relations)
        return self._candidates[kind]


def best_answers(
    model: KGEModel, kg: KnowledgeGraph, query: tuple[int, int, int], wanted: Wanted
) -> list[Answer]:
    """The best answers to one query, by name.

    Args:
        model: gives the scores.
        kg: the data set.
        query: ids of head, relation, tail; `ASKED` for one of them.
        wanted: which answers.
    """
    best = AnswerFinder(kg, wanted).find(model, torch.tensor([query]))
    names = (kg.relations if query[1] == ASKED else kg.entities).names
    found = zip(*(each[0].tolist() for each in best), strict=True)
    return [Answer(names[i], score, _split_name(split), i) for i, score, split in found if i >= 0]


def _split_name(number: int) -> str:
    return SPLITS[number] if number >= 0 else ""


def _keys(kg: KnowledgeGraph, side: str, triples: Tensor) -> Tensor:
    """One integer for each query of a side."""
    if side == "relation":
        return triples[:, 0] * kg.n_entities + triples[:, 2]
    return query_keys(triples, side, kg.n_relations)


def _known_answers(kg: KnowledgeGraph, side: str) -> GroupIndex:
    """The known answers of each query of a side, of all splits."""
    if side != "relation":
        return kg.answers(side, *SPLITS)
    triples = kg.triples(*SPLITS)
    return GroupIndex.from_pairs(_keys(kg, side, triples), triples[:, 1], kg.n_relations)
