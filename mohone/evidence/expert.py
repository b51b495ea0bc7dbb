"""What an expert is: values of candidates for queries, learned from the training triples alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mohone.core.latest import Latest
from mohone.core.parallel import Array
from mohone.evidence.directed import distinct_queries
from mohone.evidence.facts import Facts
from mohone.evidence.found import Found, add_block, add_found, look_up, summed
from mohone.evidence.neighbors import Neighbors
from mohone.evidence.reasons import Reason

BlockAdder = Callable[[Tensor, Tensor], None]


def arrays_of(*tensors: Tensor) -> list[Array]:
    """The same numbers without gaps: loops are compiled anew for each other layout, which takes seconds."""
    return [tensor.contiguous().numpy() for tensor in tensors]


def adding(values_at: Callable[[Tensor], Tensor], weights: Tensor) -> BlockAdder:
    """What adds values to scores `(batch, k)` of candidates `(k,)`.

    Args:
        values_at: of candidates `(batch, k)`: `(batch, k, n_values)`.
        weights: `(batch, n_values)`.
    """

    def add(scores: Tensor, candidates: Tensor) -> None:
        scores += (values_at(candidates.expand(len(weights), -1)) * weights[:, None]).sum(2)

    return add


class Expert(nn.Module, ABC):
    """Values that speak for or against candidates of a query `(known, relation, ?)`.

    The relation is directed (see `Facts`): "which heads" is asked from the tail by the inverse relation. What
    an expert has learned are its buffers, of whatever size: `state_dict` carries them, and an expert made
    anew takes them with `load_state_dict`. The facts are no part of that; `attach` gives them.

    A query's own triple, if the facts hold it, says nothing for its own answer.

    Attributes:
        values: the names of its values, each a number for a candidate; zero: nothing known.
        needs_neighbors: does it ask neighbours in network space?
    """

    values: tuple[str, ...]
    needs_neighbors: ClassVar[bool] = False

    def fit(self, facts: Facts, neighbors: Neighbors | None, seed: int) -> None:
        """Learn from the facts, which are attached, too.

        Args:
            facts: of the training triples.
            neighbors: in network space; None: there are none, or no expert needs them.
            seed: of what is sampled.
        """
        self.attach(facts)
        self.learn(facts, neighbors, seed)

    def attach(self, facts: Facts) -> None:
        """Give the facts to look up in; nothing is learned."""
        self._facts = facts

    def learn(self, facts: Facts, neighbors: Neighbors | None, seed: int) -> None:
        """Fill the buffers."""

    @property
    def name(self) -> str:
        """What results and explanations call it: its class, in lower case."""
        return type(self).__name__.lower()

    @property
    def facts(self) -> Facts:
        """The attached facts."""
        return self._facts

    @abstractmethod
    def add_to(self, scores: Tensor, known: Tensor, relation: Tensor, weights: Tensor) -> None:
        """Add the weighted values of all entities to scores, in place.

        Args:
            scores: `(batch, n_entities)` float32, contiguous.
            known: `(batch,)` int64 entities.
            relation: `(batch,)` int64 directed relations.
            weights: `(batch, n_values)` float32.
        """

    def block_adder(self, known: Tensor, relation: Tensor, weights: Tensor) -> BlockAdder:
        """What `add_to` does, for one block of candidates after the other; what is found is found now.

        Returns:
            of scores `(batch, k)`, which are added to, and candidates `(k,)`.
        """
        return adding(partial(self.at, known, relation), weights)

    @abstractmethod
    def at(self, known: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
        """The values of candidates `(batch, k)`: `(batch, k, n_values)` float32."""

    @abstractmethod
    def why(self, known: int, relation: int, candidate: int) -> list[Reason]:
        """What speaks for a candidate, in ids, the strongest first; at most a handful."""

    def held_bytes(self, n_entities: int) -> int:  # noqa: ARG002
        """What it keeps at most of what it was asked, beside facts and what it has learned."""
        return 0

    def notes(self) -> dict[str, Any]:
        """What is worth telling of what was learned, in plain types."""
        return {}

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Buffers take the sizes of those that are stored."""
        for name in self._buffers:
            stored = state_dict.get(prefix + name)
            if stored is not None:
                self._buffers[name] = torch.empty_like(stored)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class SparseExpert(Expert):
    """An expert that finds a few entities for each query; all others have values of zero."""

    @abstractmethod
    def found(self, known: Array, relation: Array) -> Found:
        """The entities with values for each query, `known` and directed `relation` being `(batch,)` int64."""

    def add_to(self, scores: Tensor, known: Tensor, relation: Tensor, weights: Tensor) -> None:
        """Add the weighted values of those it finds."""
        add_found(self.found(*arrays_of(known, relation)), weights.numpy(), scores.numpy())

    def block_adder(self, known: Tensor, relation: Tensor, weights: Tensor) -> BlockAdder:
        """Of those it finds, once."""
        found, place = self._found_once(known, relation)
        of_each = weights.new_empty(len(found.starts) - 1, weights.shape[1])
        of_each[torch.from_numpy(place)] = weights  # Equal queries have equal weights.
        sums = summed(found, of_each.numpy())
        return lambda scores, candidates: add_block(sums, place, candidates.numpy(), scores.numpy())

    def at(self, known: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
        """The values of candidates."""
        found, place = self._found_once(known, relation)
        wanted = arrays_of(candidates)[0]
        return torch.from_numpy(look_up(found, place, wanted, self.facts.n_entities))

    def attach(self, facts: Facts) -> None:
        """Give the facts to look up in."""
        super().attach(facts)
        self._latest = Latest[Found]()

    def _found_once(self, known: Tensor, relation: Tensor) -> tuple[Found, Array]:
        """What is found for each of the distinct queries, and which of them each of the batch is.

        What was found last is kept: a mix lists the best candidates of some queries, and is then asked for
        the values of these.
        """
        *queries, place = distinct_queries(known, relation)
        return self._latest(self.found, *arrays_of(*queries)), arrays_of(place)[0]
