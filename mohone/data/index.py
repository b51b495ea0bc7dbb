"""Sets of integers by key, as three flat tensors: known answers of queries, candidates of relations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from mohone.core.arrays import sorted_distinct


@dataclass(frozen=True)
class GroupIndex:
    """The members of each key, sorted; looked up for whole batches by index arithmetic.

    Attributes:
        keys: `(n_keys,)` distinct keys, ascending.
        offsets: `(n_keys + 1,)`; the members of `keys[i]` are `members[offsets[i]:offsets[i + 1]]`.
        members: `(n_members,)` in `[0, n_ids)`, ascending within a key.
        n_ids: how many ids there are, at least one.

    Example:
        >>> index = GroupIndex.from_pairs(torch.tensor([7, 2, 7]), torch.tensor([1, 0, 0]), n_ids=3)
        >>> index.keys.tolist(), index.offsets.tolist(), index.members.tolist()
        ([2, 7], [0, 1, 3], [0, 0, 1])
    """

    keys: Tensor
    offsets: Tensor
    members: Tensor
    n_ids: int

    @classmethod
    def from_pairs(cls, keys: Tensor, members: Tensor, n_ids: int) -> GroupIndex:
        """Group the pairs `(keys[i], members[i])`; repeated pairs count once."""
        pairs = sorted_unique(keys * n_ids + members)
        distinct, counts = torch.unique_consecutive(
            torch.div(pairs, n_ids, rounding_mode="floor"), return_counts=True
        )
        offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return cls(distinct, offsets, pairs % n_ids, n_ids)

    def to(self, device: torch.device) -> GroupIndex:
        """The same index on a device; kept, so that asking again moves nothing."""
        if self.keys.device == device:
            return self
        if device not in self._elsewhere:
            self._elsewhere[device] = GroupIndex(
                self.keys.to(device), self.offsets.to(device), self.members.to(device), self.n_ids
            )
        return self._elsewhere[device]

    @cached_property
    def _elsewhere(self) -> dict[torch.device, GroupIndex]:
        return {}

    def lookup(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """All members of each key, as flat pairs.

        Args:
            keys: `(batch,)`; an unknown key has no members.

        Returns:
            `rows` and `members`, both `(n_found,)`: `members[j]` belongs to `keys[rows[j]]`.

        Example:
            >>> index = GroupIndex.from_pairs(torch.tensor([7, 2, 7]), torch.tensor([1, 0, 0]), n_ids=3)
            >>> rows, members = index.lookup(torch.tensor([7, 5, 2]))
            >>> rows.tolist(), members.tolist()
            ([0, 0, 2], [0, 1, 0])
        """
        if len(self.keys) == 0:
            return keys.new_empty(0), keys.new_empty(0)
        place = torch.searchsorted(self.keys, keys.contiguous()).clamp_(max=len(self.keys) - 1)
        start = self.offsets[place]
        counts = torch.where(self.keys[place] == keys, self.offsets[place + 1] - start, 0)
        return expand_ranges(start, counts, self.members)

    def span(self, key: int) -> slice:
        """Where in `members` those of one key are."""
        if key not in self._places:
            return slice(0, 0)
        return slice(*self._places[key])

    @cached_property
    def _places(self) -> dict[int, tuple[int, int]]:
        ends = self.offsets.tolist()
        return dict(zip(self.keys.tolist(), pairwise(ends), strict=True))


def triple_keys(triples: Tensor, n_entities: int, n_relations: int) -> Tensor:
    """A number for each triple, ascending where triples are sorted: `(n,)` int64 for `(n, 3)` ids.

    Example:
        >>> triple_keys(torch.tensor([[0, 1, 2], [1, 0, 0]]), n_entities=3, n_relations=2).tolist()
        [5, 6]
    """
    return (triples[:, 0] * n_relations + triples[:, 1]) * n_entities + triples[:, 2]


def mask_of(ids: Tensor, n: int) -> Tensor:
    """`(n,)` of bool: is the number among these ids, of whatever shape?

    Example:
        >>> mask_of(torch.tensor([[0, 2], [2, 0]]), 4)
        tensor([ True, False,  True, False])
    """
    mask = torch.zeros(n, dtype=torch.bool)
    mask[ids.flatten()] = True
    return mask


def sorted_unique(values: Tensor) -> Tensor:
    """Each of the integers once, ascending: `(n,)` to `(n_distinct,)`; `values` may be overwritten.

    Example:
        >>> sorted_unique(torch.tensor([3, 1, 3]))
        tensor([1, 3])
    """
    if values.device.type == "cpu":  # In a fifth of torch's time.
        return torch.from_numpy(sorted_distinct(values.numpy()))
    unique: Tensor = torch.unique(values)
    return unique


def is_in(values: Tensor, ascending: Tensor) -> Tensor:
    """`(n,)` of bool: is the value among these?

    Example:
        >>> is_in(torch.tensor([4, 1, 9]), torch.tensor([1, 3, 4]))
        tensor([ True,  True, False])
    """
    if len(ascending) == 0:
        return torch.zeros_like(values, dtype=torch.bool)
    place = torch.searchsorted(ascending, values.contiguous()).clamp_(max=len(ascending) - 1)
    return ascending[place] == values


def expand_ranges(start: Tensor, counts: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """The slices `values[start[i]:start[i] + counts[i]]` laid end to end, and the row of each element.

    Example:
        >>> rows, found = expand_ranges(torch.tensor([3, 0]), torch.tensor([1, 2]), torch.arange(10, 14))
        >>> rows.tolist(), found.tolist()
        ([0, 1, 1], [13, 10, 11])
    """
    rows = torch.arange(len(start), device=start.device).repeat_interleave(counts)
    first = counts.cumsum(0) - counts
    position = torch.arange(len(rows), device=start.device) - first[rows] + start[rows]
    return rows, values[position]
