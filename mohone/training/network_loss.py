"""A second loss beside a model's own: entity vectors that also predict their network neighbourhoods."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mohone.graph.network import Network
from mohone.kge.base import KGEModel
from mohone.netemb.neighborhood import Neighborhood, draw_key
from mohone.netemb.pairs import PairBatch, PairBatches

_NODES, _DRAWS, _NEGATIVES = 256, 8, 1024  # Of a step: about what half a batch of the model's own costs.


class NetworkLoss(nn.Module):
    """`weight` times the cross-entropy of N(u) against `softmax_v(e_u . c_v)`, by draws.

    `e` are the model's entity vectors; the contexts `c`, one for each node, are learned beside them and
    thrown away after the training. Each step asks some nodes with neighbours, evenly drawn; the softmax's sum
    is estimated from shared negatives, as in `SampledObjective`.

    Args:
        weight: of the loss.
        neighborhood: what N(u) is.
        network: the entities' network.
        width: numbers of an entity's vector.
        seed: of what is random in the neighbourhood; draws follow torch's global generator.
    """

    def __init__(
        self, weight: float, neighborhood: Neighborhood, network: Network, width: int, seed: int
    ) -> None:
        super().__init__()
        neighborhood.fit(network, seed)
        self.weight, self._nodes = weight, network.connected
        generator = torch.Generator().manual_seed(seed)
        self._pairs = PairBatches(neighborhood, network, _NODES, _DRAWS, _NEGATIVES, generator)
        self.contexts = nn.Parameter(torch.zeros(network.n_nodes, width))

    def forward(self, model: KGEModel) -> Tensor:
        """The loss of a step, a scalar."""
        if len(self._nodes) == 0:
            return self.contexts.new_zeros(())
        generator = torch.Generator().manual_seed(draw_key(torch.default_generator))
        nodes = self._nodes[torch.randint(len(self._nodes), (_NODES,), generator=generator)]
        batch = PairBatch(*(part.to(model.device) for part in self._pairs.draw(nodes, generator)))
        return self.weight * pair_loss(model.lookup(model.entity_table, batch.nodes), self.contexts, batch)


def pair_loss(vectors: Tensor, contexts: Tensor, batch: PairBatch) -> Tensor:
    """The mean over nodes, and each one's draws, of `-log [e^g / (e^g + sum_n e^(e_u.c_n) / odds_n)]`.

    Here `g = e_u . c_v` of the drawn node v.

    Args:
        vectors: `(batch, width)` of the batch's nodes.
        contexts: `(n_nodes, width)`.
        batch: nodes, draws, negatives.
    """
    logits = vectors @ F.embedding(batch.negatives, contexts).T - batch.odds
    drawn = batch.draws >= 0
    gold = (vectors[:, None] * F.embedding(batch.draws.clamp(min=0), contexts)).sum(2)
    each = F.softplus(logits.logsumexp(1, keepdim=True) - gold) * drawn
    return (each.sum(1) / drawn.sum(1).clamp(min=1)).mean()
