"""Who is a candidate of which query: known answers, types, linked entities, for a chunk of queries."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from mohone.data import SIDES, GroupIndex, KnowledgeGraph, answer_column, query_keys
from mohone.evaluation.known_answers import Pairs
from mohone.evaluation.settings import UNLINKED


class Group(NamedTuple):
    """Some entities of each query; queries may share them.

    Attributes:
        members: of all, ascending where they belong together.
        spans: where in `members` those that belong together are; None: all entities.
        of_query: `(n_queries,)` whose span it has.
    """

    members: Tensor
    spans: list[slice | None]
    of_query: Tensor


class Asked(NamedTuple):
    """Queries, and the n right answers that are ranked; a query may have several.

    Attributes:
        triples: `(n_queries, 3)`, one of each query.
        answers: `(n,)` right answers.
        rows: `(n,)` the query of each of them.
        left_out: queries and entities that are no candidates of theirs, no pair twice: known answers, and
            the right ones.
        types: by setting, the only candidates.
        linked: of the setting `unlinked`, no candidates; None: it is not asked for.
    """

    triples: Tensor
    answers: Tensor
    rows: Tensor
    left_out: Pairs
    types: Mapping[str, Group]
    linked: Group | None

    def among(self, entities: Tensor) -> Asked:
        """The same where candidates are some entities `(n_entities,)`, ascending, called by their places."""
        rows, columns = self.left_out
        place = torch.searchsorted(entities, columns).clamp_(max=len(entities) - 1)
        there = entities[place] == columns
        return self._replace(left_out=(rows[there], place[there]), types={}, linked=None)

    def n_candidates(self, n_entities: int) -> Tensor:
        """Of each right answer's query among all entities, itself one of them: `(n,)`."""
        n_left_out = torch.bincount(self.left_out[0], minlength=len(self.triples))
        return 1 + n_entities - n_left_out[self.rows]


class Filters:
    """What is known of the candidates of some triples' queries.

    Args:
        kg: the data set.
        triples: `(n, 3)` that are ranked.
        settings: in which.
        known: splits whose triples are known answers.
        answers_known: are the triples themselves among these?

    Attributes:
        known: by side, the known answers of these triples' queries.
        candidates: by setting and side, those of each relation.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        triples: Tensor,
        settings: tuple[str, ...],
        known: tuple[str, ...],
        answers_known: bool,
    ) -> None:
        self.kg, self._triples, self._settings = kg, triples, settings
        self._answers_known = answers_known
        self.known = {side: kg.answers(side, *known, of=triples) for side in SIDES}
        self.candidates = {
            (setting, side): kg.relation_candidates(side, *(known if setting == "typed" else ("train",)))
            for setting in settings
            for side in SIDES
            if setting.startswith("typed")
        }

    @cached_property
    def linked(self) -> GroupIndex:
        """Whom train links to each entity of the triples."""
        return self.kg.linked(self._triples[:, [0, 2]])

    def asked(self, side: str, triples: Tensor) -> Asked:
        """Queries of one side, each once, and who is a candidate."""
        keys = query_keys(triples, side, self.kg.n_relations)
        answers = triples[:, answer_column(side)]
        first = rows = torch.arange(len(triples), device=triples.device)
        if self._answers_known:  # Else each answer leaves itself out, and no other one of its query.
            distinct, rows = torch.unique(keys, return_inverse=True)
            first = torch.empty_like(distinct).scatter_(0, rows, first)
        asked = triples[first]
        left_out = self.known[side].to(keys.device).lookup(keys[first])
        if not self._answers_known:
            others = left_out[1] != answers[left_out[0]]
            left_out = (
                torch.cat([left_out[0][others], rows]),
                torch.cat([left_out[1][others], answers]),
            )
        unseen = self.kg.unseen_relations
        types = {
            setting: group_of(index, asked[:, 1], unseen)
            for (setting, of), index in self.candidates.items()
            if of == side
        }
        linked = None
        if UNLINKED in self._settings:
            linked = group_of(self.linked, asked[:, 2 - answer_column(side)], frozenset())
        return Asked(asked, answers, rows, left_out, types, linked)


def group_of(index: GroupIndex, keys: Tensor, without: frozenset[int]) -> Group:
    """The members of each query's key; all entities for the keys `without` any."""
    distinct, of_query = torch.unique(keys, return_inverse=True)
    spans = [None if key in without else index.span(key) for key in distinct.tolist()]
    return Group(index.to(keys.device).members, spans, of_query)
