"""Figures of merit from ranks: the field's usual ones, for all queries and for parts of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mohone.data import KnowledgeGraph
from mohone.evaluation.ranks import Ranks

HITS = (1, 3, 10)
CATEGORIES = ("1-1", "1-N", "N-1", "N-N")
TIE_WARNING = 0.001
_MANY = 1.5


def summarize(ranks: Ranks) -> dict[str, float]:
    """MRR, Hits@1/3/10, MR and AMRI of the mean ranks of n > 0 queries.

    AMRI is `1 - (MR - 1) / (E[MR] - 1)` with `E[MR]` the mean rank of a random order of each query's own
    candidates: 1 is perfect, 0 is chance [Berrendorf et al. 2020]; 1 if there is only one candidate.
    """
    rank = ranks.mean
    out = {"mrr": float(rank.reciprocal().mean())}
    out |= {f"hits@{k}": float((rank <= k).double().mean()) for k in HITS}
    out["mr"] = float(rank.mean())
    chance = float((ranks.n_candidates.double() + 1).mean()) / 2
    out["amri"] = 1.0 - (out["mr"] - 1) / (chance - 1) if chance > 1 else 1.0
    return out


def relation_categories(graph: KnowledgeGraph) -> list[str]:
    """The category of each relation by train: `N` where there are at least 1.5 heads or tails on average.

    "1-N" has one head and many tails [Bordes et al. 2013]. A relation without a training triple is "1-1".
    """
    many = {}
    for side in ("head", "tail"):
        index = graph.answers(side, "train")
        relation = index.keys % graph.n_relations
        queries = torch.bincount(relation, minlength=graph.n_relations)
        triples = torch.bincount(graph.train[:, 1], minlength=graph.n_relations)
        many[side] = triples >= _MANY * queries.clamp(min=1)
    return [
        f"{'N' if head else '1'}-{'N' if tail else '1'}"
        for head, tail in zip(many["head"].tolist(), many["tail"].tolist(), strict=True)
    ]


def report(ranks: dict[str, Ranks], triples: Tensor, graph: KnowledgeGraph) -> dict[str, Any]:
    """All figures of one evaluation.

    Args:
        ranks: by setting, of `2 n` queries (tails, then heads).
        triples: `(n, 3)` that were ranked.
        graph: for relation categories and entities seen in training.

    Returns:
        by setting: the figures over both sides; `tail` and `head` alone; `categories`; `seen_only` (triples
        whose entities and relation are in train); `mrr_optimistic` and `mrr_pessimistic`; `n_ranked`.
    """
    return {setting: _report_setting(each, triples, graph) for setting, each in ranks.items()}


def _report_setting(ranks: Ranks, triples: Tensor, graph: KnowledgeGraph) -> dict[str, Any]:
    n = len(triples)
    is_tail = torch.arange(2 * n) < n
    names = relation_categories(graph)
    category = torch.tensor([CATEGORIES.index(name) for name in names])[triples[:, 1]].repeat(2)
    seen_relation = torch.isin(triples[:, 1], graph.train[:, 1])
    seen = (graph.seen_entities[triples[:, [0, 2]]].all(1) & seen_relation).repeat(2)
    out: dict[str, Any] = summarize(ranks)
    out["tail"], out["head"] = _part(ranks, is_tail), _part(ranks, ~is_tail)
    out["categories"] = {name: _part(ranks, category == i) for i, name in enumerate(CATEGORIES)}
    out["seen_only"] = _part(ranks, seen)
    out["mrr_optimistic"] = float(ranks.optimistic.double().reciprocal().mean())
    out["mrr_pessimistic"] = float(ranks.pessimistic.double().reciprocal().mean())
    out["n_ranked"] = 2 * n
    return out


def _part(ranks: Ranks, mask: Tensor) -> dict[str, float] | None:
    """The figures of some queries; None where there are none, so that no average of nothing is shown."""
    if not mask.any():
        return None
    return summarize(ranks[mask])


def tie_warning(setting: str, figures: dict[str, Any]) -> str | None:
    """A sentence if ties could move the MRR by more than 0.001."""
    spread = figures["mrr_optimistic"] - figures["mrr_pessimistic"]
    if spread <= TIE_WARNING:
        return None
    return (
        f"Ties matter: the {setting} MRR is {figures['mrr']:.4f} with mean ranks, and between "
        f"{figures['mrr_pessimistic']:.4f} and {figures['mrr_optimistic']:.4f} by how they are broken."
    )
