"""Ranks among so many entities that scores are formed a block of entities at a time, and never kept.

A block is as wide as a processor's cache allows. What a setting leaves out, or takes alone, is looked up
for the block's entities; what is added up is how many of them are above the right answer and level with it.
So memory is constant, each block's vectors are read once for all queries of a chunk, and a query that has
several right answers is scored once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from mohone.core.exchange import RowExchange
from mohone.evaluation.counting import Block, Counts, Spans
from mohone.evaluation.filters import Asked, Group
from mohone.evaluation.known_answers import Pairs
from mohone.evaluation.ranks import Ranks
from mohone.evaluation.settings import UNLINKED
from mohone.kge.base import BlockScores


class ByBlock:
    """Pairs of rows and columns, looked up a block of columns at a time.

    Args:
        pairs: in any order.
        edges: of the blocks.
    """

    def __init__(self, pairs: Pairs, edges: list[int]) -> None:
        rows, columns = pairs
        self._columns, order = columns.sort()
        self._rows = rows[order]
        self._edges = edges
        self._cuts = torch.searchsorted(self._columns, columns.new_tensor(edges)).tolist()

    def within(self, block: int) -> Pairs:
        """The pairs of a block, columns counted from its first."""
        some = slice(self._cuts[block], self._cuts[block + 1])
        return self._rows[some], self._columns[some] - self._edges[block]


def rank_in_blocks(
    scorers: Sequence[BlockScores],
    asked: Asked,
    entities: Tensor,
    width: int,
    exchange: RowExchange | None = None,
) -> list[dict[str, Ranks]]:
    """The ranks of n right answers by each scorer, by setting; `filtered` is always among them.

    Args:
        scorers: of the queries; all are asked for one block before the next.
        asked: queries, answers, and who is a candidate.
        entities: all of them, or those that are drawn; pairs and groups then name their places.
        width: of a block.
        exchange: where the entities' vectors lie in several processes, which all rank the same queries, each
            among the entities that it holds.
    """
    first, end = (0, len(entities)) if exchange is None else (exchange.start, exchange.stop)
    edges = [*range(first, end, width), end]
    left_out = ByBlock(asked.left_out, edges)
    golds = own_scores(scorers, asked.answers, asked.rows, width)
    counted = [_Counted(asked, gold, edges) for gold in golds]
    with contextlib.nullcontext() if exchange is None else exchange.alone():
        for number, (start, stop) in enumerate(pairwise(edges)):
            # All products are of one size, as another may round in another way: the last block reaches back.
            candidates = entities[max(first, stop - width) : stop]
            barred = left_out.within(number)
            for score, counts in zip(scorers, counted, strict=True):
                scores = score(candidates)[:, start - stop :].contiguous()
                scores[barred] = -torch.inf
                counts.add(Block(scores, counts.gold, asked.rows, number, start))
    return [counts.ranks(exchange) for counts in counted]


def own_scores(scorers: Sequence[BlockScores], answers: Tensor, rows: Tensor, width: int) -> list[Tensor]:
    """The scores of right answers by each scorer: `(n,)`.

    They come from products of a block's size: equal vectors then tie, as products of another size may round
    in another way.
    """
    n = len(answers)
    out: list[list[Tensor]] = [[] for _ in scorers]
    for start in range(0, n, width):
        some = torch.arange(start, start + width, device=answers.device)
        candidates, mine = answers[some % n], some[: n - start]
        for score, found in zip(scorers, out, strict=True):
            found.append(score(candidates)[rows[mine], mine - start])
    return [torch.cat(found) for found in out]


class _Counted:
    """What was counted of one scorer, for each setting.

    Args:
        asked: the queries.
        gold: `(n,)` scores of the right answers.
        edges: of the blocks.
    """

    def __init__(self, asked: Asked, gold: Tensor, edges: list[int]) -> None:
        self.gold, self._linked = gold, asked.linked is not None
        self._every = Counts.zeros(len(gold), gold.device)
        groups = {**asked.types} if asked.linked is None else {**asked.types, UNLINKED: asked.linked}
        self._among = {setting: _Among(group, asked.rows, edges) for setting, group in groups.items()}

    def add(self, block: Block) -> None:
        """Count a block."""
        self._every.add(block)
        for each in self._among.values():
            each.add(block)

    def ranks(self, exchange: RowExchange | None) -> dict[str, Ranks]:
        """The ranks, once all blocks were counted, here and in other processes."""
        if exchange is not None:
            for parts in (self._every, *(each.counts for each in self._among.values())):
                parts.sum_over(exchange)
        counts = {setting: each.of(self._every) for setting, each in self._among.items()}
        if self._linked:
            of_linked = counts[UNLINKED]
            counts[UNLINKED] = Counts(*(a - b for a, b in zip(self._every, of_linked, strict=True)))
        return {setting: _ranks(each) for setting, each in {"filtered": self._every, **counts}.items()}


def _ranks(counts: Counts) -> Ranks:
    """The right answer is no candidate in the counts, but is one."""
    return Ranks(1 + counts.above, 1 + counts.above + counts.level, 1 + counts.candidates)


class _Among:
    """Counts among some entities of each query."""

    def __init__(self, group: Group, rows: Tensor, edges: list[int]) -> None:
        members = group.members
        self._members, self._of_answer = members, group.of_query[rows]
        self.counts = Counts.zeros(len(rows), members.device)
        wanted, none = members.new_tensor(edges), members.new_zeros(len(edges))
        # Where in `members` each block begins: `(n_spans, n_blocks + 1)`.
        self._cuts = torch.stack(
            [
                none if span is None else span.start + torch.searchsorted(members[span], wanted)
                for span in group.spans
            ]
        )
        self._all = torch.tensor([span is None for span in group.spans], device=members.device)

    def add(self, block: Block) -> None:
        """Count those of a block."""
        first, last = self._cuts[self._of_answer, block.number : block.number + 2].T.contiguous()
        self.counts.add_spans(block, Spans(self._members, first, last))

    def of(self, every: Counts) -> Counts:
        """What was counted, and what was among all entities where those are meant."""
        of_all = self._all[self._of_answer]
        return Counts(*(torch.where(of_all, a, b) for a, b in zip(every, self.counts, strict=True)))
