"""The best answers among so many entities that scores are formed a block of entities at a time."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from mohone.evaluation.best_so_far import BestSoFar, Sorted
from mohone.evaluation.blocked import ByBlock
from mohone.evaluation.filters import Group
from mohone.evaluation.known_answers import Pairs
from mohone.kge.base import BlockScores


def best_in_blocks(
    score: BlockScores,
    n: int,
    left_out: Pairs,
    types: Group | None,
    entities: Tensor,
    top: int,
    width: int,
) -> Sorted:
    """The best of each of n queries, fewer if there are fewer entities.

    Args:
        score: of the queries.
        n: their number.
        left_out: queries and entities that are no candidates of theirs, on the CPU.
        types: the only candidates, on the CPU; None: all are.
        entities: all of them, on the queries' device.
        top: how many are wanted.
        width: of a block.
    """
    edges = [*range(0, len(entities), width), len(entities)]
    gone = ByBlock(left_out, edges)
    members = None if types is None else _members(types, edges)
    best = BestSoFar(n, min(top, len(entities)))
    for number, (start, stop) in enumerate(pairwise(edges)):
        scores = score(entities[start:stop]).cpu().float().contiguous()
        scores[gone.within(number)] = -torch.inf
        if types is not None and members is not None:
            of_type = torch.tensor([span is None for span in types.spans])[:, None].repeat(1, stop - start)
            of_type[members.within(number)] = True
            scores.masked_fill_(~of_type[types.of_query], -torch.inf)
        best.add(scores, start)
    return best.sorted()


def _members(types: Group, edges: list[int]) -> ByBlock:
    """Pairs of a type and one of its entities."""
    spans = [slice(0, 0) if span is None else span for span in types.spans]
    sizes = torch.tensor([span.stop - span.start for span in spans])
    columns = torch.cat([types.members[span] for span in spans])
    return ByBlock((torch.arange(len(spans)).repeat_interleave(sizes), columns), edges)
