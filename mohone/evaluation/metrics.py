"""Figures of merit from ranks: the field's usual ones, for all queries and for parts of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mohone.data import KnowledgeGraph, query_keys
from mohone.data.index import sorted_unique
from mohone.evaluation.ranks import Ranks
from mohone.graph.distances import distances
from mohone.graph.network import Network

HITS = (1, 3, 10)
CATEGORIES = ("1-1", "1-N", "N-1", "N-N")
DISTANCES = ("0", "1", "2", "3", "more")
TIE_WARNING = 0.001
_MANY = 1.5


def summarize(ranks: Ranks) -> dict[str, float]:
    """MRR, Hits@1/3/10, MR and AMRI of the mean ranks of n > 0 queries.

    AMRI is `1 - (MR - 1) / (E[MR] - 1)` with `E[MR]` the mean rank of a random order of each query's own
    candidates: 1 is perfect, 0 is chance [Berrendorf et al. 2020]; 1 if there is only one candidate.

    Example:
        >>> first_and_fourth = torch.tensor([1, 4])
        >>> figures = summarize(Ranks(first_and_fourth, first_and_fourth, torch.tensor([10, 10])))
        >>> figures["mrr"], figures["hits@3"], figures["mr"]
        (0.625, 0.5, 2.5)
    """
    rank = ranks.mean
    out = {"mrr": float(rank.reciprocal().mean())}
    out |= {f"hits@{k}": float((rank <= k).double().mean()) for k in HITS}
    out["mr"] = float(rank.mean())
    chance = float((ranks.n_candidates.double() + 1).mean()) / 2
    out["amri"] = 1.0 - (out["mr"] - 1) / (chance - 1) if chance > 1 else 1.0
    return out


def relation_categories(kg: KnowledgeGraph) -> list[str]:
    """The category of each relation by train: `N` where there are at least 1.5 heads or tails on average.

    "1-N" has one head and many tails [Bordes et al. 2013]. A relation without a training triple is "1-1".
    """
    many = {}
    for side in ("head", "tail"):
        asked = sorted_unique(query_keys(kg.train, side, kg.n_relations))
        queries = torch.bincount(asked % kg.n_relations, minlength=kg.n_relations)
        triples = torch.bincount(kg.train[:, 1], minlength=kg.n_relations)
        many[side] = triples >= _MANY * queries.clamp(min=1)
    return [
        f"{'N' if head else '1'}-{'N' if tail else '1'}"
        for head, tail in zip(many["head"].tolist(), many["tail"].tolist(), strict=True)
    ]


def report(ranks: dict[str, Ranks], triples: Tensor, kg: KnowledgeGraph) -> dict[str, Any]:
    """All figures of one evaluation.

    Args:
        ranks: by setting, of `2 n` queries (tails, then heads).
        triples: `(n, 3)` that were ranked.
        kg: for relation categories, degrees, and entities seen in training.

    Returns:
        by setting: the figures over both sides; `tail` and `head` alone; `categories`; `degrees` (of the
        right answer: how many neighbours it has in train, in bins of doubling width); `distances` (of head
        and tail in the network of the training triples: 0, 1, 2, 3, more); `seen_only` (triples whose
        entities and relation are in train); `mrr_optimistic` and `mrr_pessimistic`; `n_ranked`.
    """
    parts = _parts(triples, kg)
    return {setting: _report_setting(each, parts) for setting, each in ranks.items()}


def by_relation(ranks: Ranks, triples: Tensor, kg: KnowledgeGraph) -> dict[str, dict[str, float]]:
    """MRR and number of queries of each relation that was asked for, by its name.

    Args:
        ranks: of `2 n` queries (tails, then heads).
        triples: `(n, 3)` that were ranked.
        kg: for the names.
    """
    relation = triples[:, 1].repeat(2)
    n = torch.bincount(relation, minlength=kg.n_relations)
    mrr = torch.bincount(relation, ranks.mean.reciprocal(), minlength=kg.n_relations) / n.clamp(min=1)
    return {
        name: {"mrr": float(mrr[i]), "n_ranked": int(n[i])}
        for i, name in enumerate(kg.relations.names)
        if n[i]
    }


Part = Tensor | dict[str, Tensor]


def _parts(triples: Tensor, kg: KnowledgeGraph) -> dict[str, Part]:
    """Masks `(2 n,)` of the queries that have figures of their own."""
    is_tail = torch.arange(2 * len(triples)) < len(triples)
    names = relation_categories(kg)
    category = torch.tensor([CATEGORIES.index(name) for name in names])[triples[:, 1]].repeat(2)
    seen_relation = torch.isin(triples[:, 1], kg.train[:, 1])
    answers = torch.cat([triples[:, 2], triples[:, 0]])
    network = Network.from_triples(kg.train, kg.n_entities)
    apart = distances(network, triples[:, 0], triples[:, 2]).repeat(2)
    return {
        "tail": is_tail,
        "head": ~is_tail,
        "categories": {name: category == i for i, name in enumerate(CATEGORIES)},
        "degrees": degree_bins(network.degrees[answers]),
        "distances": {name: apart == i for i, name in enumerate(DISTANCES)},
        "seen_only": (kg.seen_entities[triples[:, [0, 2]]].all(1) & seen_relation).repeat(2),
    }


def degree_bins(degrees: Tensor) -> dict[str, Tensor]:
    """Masks of degrees by bins 0, 1, 2-3, 4-7, ..., up to the greatest of them.

    Example:
        >>> {name: mask.tolist() for name, mask in degree_bins(torch.tensor([0, 3, 1])).items()}
        {'0': [True, False, False], '1': [False, False, True], '2-3': [False, True, False]}
    """
    bins = {"0": degrees == 0}
    low = 1
    while low <= int(degrees.max()):
        name = f"{low}" if low == 1 else f"{low}-{2 * low - 1}"
        bins[name] = (degrees >= low) & (degrees < 2 * low)
        low *= 2
    return bins


def _report_setting(ranks: Ranks, parts: dict[str, Part]) -> dict[str, Any]:
    out: dict[str, Any] = summarize(ranks)
    for name, part in parts.items():
        if isinstance(part, dict):
            out[name] = {key: _figures(ranks, mask) for key, mask in part.items()}
        else:
            out[name] = _figures(ranks, part)
    out["mrr_optimistic"] = float(ranks.optimistic.double().reciprocal().mean())
    out["mrr_pessimistic"] = float(ranks.pessimistic.double().reciprocal().mean())
    out["n_ranked"] = len(ranks.n_candidates)
    return out


def _figures(ranks: Ranks, mask: Tensor) -> dict[str, float] | None:
    """The figures of some queries and their number; None where there are none: no average of nothing."""
    if not mask.any():
        return None
    return {**summarize(ranks[mask]), "n_ranked": int(mask.sum())}


def tie_warning(setting: str, figures: dict[str, Any]) -> str | None:
    """A sentence if ties could move the MRR by more than 0.001."""
    spread = figures["mrr_optimistic"] - figures["mrr_pessimistic"]
    if spread <= TIE_WARNING:
        return None
    return (
        f"Ties matter: the {setting} MRR is {figures['mrr']:.4f} with mean ranks, and between "
        f"{figures['mrr_pessimistic']:.4f} and {figures['mrr_optimistic']:.4f} by how they are broken."
    )
