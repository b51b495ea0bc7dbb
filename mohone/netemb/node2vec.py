"""node2vec and DeepWalk: two entities are alike if random walks pass them in the same company."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from mohone.core.errors import require_float, require_int
from mohone.graph.cooccurrence import Cooccurrence
from mohone.graph.network import Network
from mohone.graph.random_walks import walk_ends, walks, window_lengths
from mohone.netemb.neighborhood import Neighborhood, draw_key


class Node2Vec(Neighborhood):
    """N(u) is the nodes within a window around u in biased random walks [Grover, Leskovec, KDD 2016].

    From each node start `walks_per_node` walks of `walk_length` nodes. After a step from t to v, a neighbour
    x of v is chosen with odds `1/p` if x = t, 1 if x is a neighbour of t and `1/q` otherwise, times the
    weight of its edge. A node at distance k in a walk counts `window - k + 1`, as word2vec's windows of
    random width give it on average.

    Whole rows are the counts of one corpus of walks. A draw is the end of a fresh walk from u of a random
    length k with the same odds: the same but for the starts of the walks (its first step has no t, and it
    goes forward only, which for p = q = 1 is the same as backward).

    Args:
        p: return parameter: small turns back often.
        q: in-out parameter: small goes far away.
        walk_length: nodes of a walk.
        walks_per_node: walks that start at each node.
        window: largest distance in a walk.
    """

    def __init__(
        self,
        p: float = 1.0,
        q: float = 1.0,
        walk_length: int = 80,
        walks_per_node: int = 10,
        window: int = 10,
    ) -> None:
        self.p = require_float("netemb.p", p, strict=True)
        self.q = require_float("netemb.q", q, strict=True)
        self.walk_length = require_int("netemb.walk_length", walk_length, 2)
        self.walks_per_node = require_int("netemb.walks_per_node", walks_per_node, 1)
        self.window = require_int("netemb.window", window, 1)

    def fit(self, network: Network, seed: int) -> None:
        """Keep both for the walks."""
        self._network, self._seed = network, seed
        self._lengths = window_lengths(self.window)
        self.__dict__.pop("_counts", None)

    def weights(self, nodes: Tensor) -> Tensor:
        """Counts of the walks."""
        return self._counts.rows(nodes)

    def sample(self, nodes: Tensor, generator: torch.Generator) -> Tensor:
        """Ends of fresh walks."""
        return walk_ends(self._network, nodes, self._lengths, draw_key(generator), self.p, self.q)

    @cached_property
    def _counts(self) -> Cooccurrence:
        starts = self._network.connected.repeat(self.walks_per_node)
        corpus = walks(self._network, starts, self.walk_length, self._seed, self.p, self.q)
        return Cooccurrence(corpus, self._network.n_nodes, self.window)


class DeepWalk(Node2Vec):
    """N(u) is the nodes within a window around u in plain random walks [Perozzi et al., KDD 2014].

    Args:
        walk_length: nodes of a walk.
        walks_per_node: walks that start at each node.
        window: largest distance in a walk.
    """

    def __init__(self, walk_length: int = 80, walks_per_node: int = 10, window: int = 10) -> None:
        super().__init__(walk_length=walk_length, walks_per_node=walks_per_node, window=window)
