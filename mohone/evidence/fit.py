"""From a trained model to one with evidence in its scores: experts learn, then their weights are fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from mohone.core.errors import require_choice, require_float, require_int, require_some
from mohone.core.parallel import Array
from mohone.data import KnowledgeGraph
from mohone.evaluation.sample import Sample
from mohone.evidence.choice import Choice, choose_mix, folds_of
from mohone.evidence.collect import Collected, add_best_of_mix, collect
from mohone.evidence.expert import Expert
from mohone.evidence.facts import facts_of
from mohone.evidence.mix import Lists
from mohone.evidence.model import EvidenceModel
from mohone.evidence.neighbors import Neighbors
from mohone.kge import KGEModel

FIT_ON = ("valid", "train")
# On a graph of 100,000 entities the model's own best candidates are too few of those that experts speak for:
# weights fitted on them alone gave a test MRR of .314, with the mix's own best .341 (alone: .196). On WN18RR,
# of 41,000, both gave .551.
MOST_BY_MODEL = 50_000
_MOST_QUERIES = 100_000
_MOST_FOLDS = 100  # Each is a fit for each penalty.
_HELD_OUT = 20  # One training triple in so many is held out.


@dataclass(frozen=True)
class Fitting:
    """How weights are fitted.

    Attributes:
        inverse_temperature: factor of scores in the model's training.
        n_candidates: of each query, which weights are fitted on.
        penalty: of weights by relation, or several to choose from.
        folds: of the cross-validation that chooses.
        seed: of what is sampled and of folds.
        fit_on: `valid`: weights are fitted on validation triples; `train`: on 5 % of the training triples,
            with evidence from the others, after which the experts learn from all.
        parts: values that are also mixed with the model alone, so that their part of the gain is known.
        description: of a progress bar; None: there is none.
        most_by_model: of more entities, half as many candidates are added, the best of a first mix, and
            weights are fitted again.
        sample: which of the queries weights are fitted on, `most_queries` at most.
        most_queries: a list of candidates with their values takes some 10 kB.
    """

    inverse_temperature: float = 1.0
    n_candidates: int = 200
    penalty: float | Sequence[float] = (25.0, 5.0, 1.0)
    folds: int = 5
    seed: int = 0
    fit_on: str = "valid"
    parts: Sequence[str] = ("frequency",)
    description: str | None = None
    most_by_model: int = MOST_BY_MODEL
    sample: Sample = field(default_factory=Sample)
    most_queries: int = _MOST_QUERIES

    def __post_init__(self) -> None:
        require_choice("infusion.fit_on", self.fit_on, FIT_ON)
        require_float("inverse_temperature", self.inverse_temperature, strict=True)
        require_int("infusion.candidates", self.n_candidates, 2)
        require_int("infusion.folds", self.folds, 2, _MOST_FOLDS)
        for one in require_some("infusion.penalty", self.penalty):
            require_float("infusion.penalty", one, strict=True)

    @property
    def of_queries(self) -> Sample:
        """The queries that weights are fitted on."""
        most = self.most_queries
        return replace(self.sample, queries=min(self.sample.queries or most, most))

    def n_queries(self, kg: KnowledgeGraph) -> int:
        """How many queries weights are fitted on, about."""
        every = 2 * len(kg.valid) if self.fit_on == "valid" else 2 * len(kg.train) // _HELD_OUT
        return min(every, self.of_queries.queries or every)


def fit_evidence(
    model: KGEModel,
    kg: KnowledgeGraph,
    neighbors: Neighbors | None,
    experts: Sequence[Expert],
    fitting: Fitting | None = None,
) -> tuple[EvidenceModel, dict[str, Any]]:
    """Let the experts learn and mix them with the model.

    Args:
        model: trained, on the CPU; it becomes part of the result, unchanged.
        kg: its data set.
        neighbors: in network space, for the experts that need them.
        experts: new ones.
        fitting: how; None: as usual.

    Returns:
        the model with evidence, and what is to be told of it, in plain types.
    """
    fitting = fitting or Fitting()
    fitted_on = kg if fitting.fit_on == "valid" else hold_out(kg, fitting.seed)
    learn_experts(experts, fitted_on, neighbors, fitting.seed)
    out, notes = fit_weights(model, fitted_on, experts, fitting)
    if fitted_on is not kg:
        learn_experts(experts, kg, neighbors, fitting.seed)
    return out, {"fit_on": fitting.fit_on, **notes}


def fit_weights(
    model: KGEModel, kg: KnowledgeGraph, experts: Sequence[Expert], fitting: Fitting
) -> tuple[EvidenceModel, dict[str, Any]]:
    """Mix what experts have learned with a model, by the validation triples of `kg`."""
    scale, description = fitting.inverse_temperature, fitting.description
    collected = collect(
        model, experts, kg, scale, fitting.n_candidates, description, sample=fitting.of_queries
    )
    out = EvidenceModel(model, experts, scale)

    def choose(lists: Lists) -> Choice:
        of = lists, collected.triples, len(out.weights)
        return choose_mix(*of, fitting.penalty, fitting.folds, fitting.seed)

    choice = choose(collected.lists)
    out.weights.copy_(torch.from_numpy(choice.mix.weights))
    is_large = kg.n_entities > fitting.most_by_model
    if is_large:
        collected = add_best_of_mix(collected, out, kg, fitting.n_candidates // 2, description)
        choice = choose(collected.lists)
        out.weights.copy_(torch.from_numpy(choice.mix.weights))
    notes = {
        "inverse_temperature": scale,
        "best_of_mix_added": is_large,
        **_notes(out, choice, collected, kg),
    }
    alone = [0, *(i for i, name in enumerate(out.values) if name in fitting.parts)]
    if 1 < len(alone) < len(out.values):
        few = collected.lists._replace(values=np.ascontiguousarray(collected.lists.values[:, :, alone]))
        notes["parts"] = _keep_part(out, "_and_".join(fitting.parts), alone, choose(few))
    return out, notes


def _keep_part(model: EvidenceModel, name: str, columns: list[int], part: Choice) -> dict[str, Any]:
    """Keep the weights of some values alone beside the model's, and tell of them."""
    weights = torch.zeros_like(model.weights)
    weights[:, columns] = torch.from_numpy(part.mix.weights).float()
    model.keep_part(name, weights)
    return {name: {"mode": part.mode, "cross_validated_mrr": part.mrr}}


def hold_out(kg: KnowledgeGraph, seed: int) -> KnowledgeGraph:
    """The data set with a twentieth of its training triples, by their ids and the seed, for validation."""
    held = torch.from_numpy(folds_of(kg.train, _HELD_OUT, seed + 1) == 0)
    weights = None if kg.weights is None else kg.weights[~held]
    return replace(kg, train=kg.train[~held], valid=kg.train[held], weights=weights)


def learn_experts(
    experts: Sequence[Expert], kg: KnowledgeGraph, neighbors: Neighbors | None, seed: int
) -> None:
    """Let experts learn from the training triples, and from neighbours in network space."""
    facts = facts_of(kg)
    for expert in experts:
        expert.fit(facts, neighbors, seed)


def _notes(model: EvidenceModel, choice: Choice, collected: Collected, kg: KnowledgeGraph) -> dict[str, Any]:
    inside = collected.lists.gold >= 0
    notes = {
        "mode": choice.mode,
        "penalty": choice.penalty,
        "cross_validated_mrr": choice.mrr,
        "cross_validated_mrr_by_penalty": choice.mrr_by_penalty,
        "queries_fitted_on": int(inside.sum()),
        "queries_left_out": int((~inside).sum()),
        "experts": {expert.name: expert.notes() for expert in model._experts},
    }
    return notes | {"weights": _readable(model, choice.mix.shared, collected.lists.group, kg)}


def _readable(model: EvidenceModel, shared: Array, group: Array, kg: KnowledgeGraph) -> dict[str, Any]:
    """The weights by the names of values: the shared ones, and those of relations and sides fitted on."""
    names, asked = model.values, set(np.unique(group).tolist())

    def named(weights: list[float]) -> dict[str, float]:
        return {name: round(weight, 4) for name, weight in zip(names, weights, strict=True)}

    by_relation = {
        relation: {
            side: named(model.weights[place].tolist())
            for side, place in (("tail", i), ("head", i + kg.n_relations))
            if place in asked
        }
        for i, relation in enumerate(kg.relations.names)
    }
    return {"shared": named(shared.tolist()), "by_relation": {k: v for k, v in by_relation.items() if v}}
