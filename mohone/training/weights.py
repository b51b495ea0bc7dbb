"""How much each training triple counts in the loss, of data whose triples have weights."""

from __future__ import annotations

from torch import Tensor

from mohone.data import KnowledgeGraph, answer_column, query_keys


def relative_weights(kg: KnowledgeGraph) -> Tensor | None:
    """The weights of the training triples over their mean: `(n_train,)` float32; None: all count the same.

    Of mean 1, so that step sizes and regularisers mean what they do without weights.
    """
    weights = kg.weights
    if weights is None or not len(weights) or bool((weights == weights[0]).all()):
        return None
    return (weights.double() / weights.double().mean()).float()


def answer_weights(kg: KnowledgeGraph, side: str) -> Tensor | None:
    """The relative weight of each of the `members` of `kg.answers(side, "train")`; None: all the same."""
    weights = relative_weights(kg)
    if weights is None:
        return None
    keys = query_keys(kg.train, side, kg.n_relations)
    return weights[(keys * max(1, kg.n_entities) + kg.train[:, answer_column(side)]).argsort()]
