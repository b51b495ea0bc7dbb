"""Infusion of the score: what the network says of a candidate is weighed beside what the model says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mohone.core.errors import (
    ConfigError,
    require_bool,
    require_choice,
    require_float,
    require_int,
    require_some,
)
from mohone.core.nearest import METRICS, check_nearest
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.sample import Sample
from mohone.evidence.answers import Answers
from mohone.evidence.contexts import Contexts
from mohone.evidence.expert import Expert
from mohone.evidence.facts import facts_of
from mohone.evidence.fit import Fitting, fit_evidence
from mohone.evidence.frequency import Frequency
from mohone.evidence.heat import Heat
from mohone.evidence.linked import Linked
from mohone.evidence.model import EvidenceModel
from mohone.evidence.neighbors import Neighbors, check_weights, random_neighbors, weigh
from mohone.evidence.paths import LONGEST, Paths
from mohone.evidence.votes import Votes
from mohone.infusion.base import Infusion, NetworkSpace, Notes, Retrain
from mohone.infusion.retrofitting import Retrofit
from mohone.infusion.sentences import sentences
from mohone.kge import KGEModel

EXPERTS: dict[str, type[Expert]] = {
    "votes": Votes,
    "answers": Answers,
    "heat": Heat,
    "paths": Paths,
    "contexts": Contexts,
    "frequency": Frequency,
    "linked": Linked,
}
FIRST = ("none", "retrofit")
USUAL = ("votes", "answers", "heat", "paths", "contexts", "frequency")


@dataclass(frozen=True)
class Evidence(Infusion):
    """Mix the model's score with what experts say of a candidate, by weights fitted on validation.

    `score' = w_r0 score + sum_i w_ri x_i`, see `mohone.evidence`. Validation chooses by cross-validation
    between the model alone, one weight for all relations, and weights by relation and side.

    Attributes:
        experts: names of `EXPERTS`, or experts made; or one.
        neighbors: of an entity in network space, who vote.
        weights: of neighbours: `even`, or by `cosine`.
        metric: `cosine` or `euclidean`, how near network embeddings are.
        random: are neighbours drawn by lot instead? The control of what the network embedding knows.
        first: what comes before: `none`, or `retrofit` with its usual settings.
        scales: of the heat kernel.
        longest: walk of `paths`; `auto`: 3 where a node has less than 8 neighbours on average, else 2.
        candidates: of each query, the model's best, that weights are fitted on.
        penalty: of a relation's own weights, or several, of which cross-validation chooses.
        folds: of the cross-validation.
        fit_on: `valid`, or `train`: on a twentieth of the training triples, held out meanwhile.
        seed: of what is sampled: heads that paths are counted from, folds, neighbours drawn by lot.
    """

    on_cpu: ClassVar[bool] = True

    experts: str | Expert | Sequence[str | Expert] = USUAL
    neighbors: int = 20
    weights: str = "even"
    metric: str = "cosine"
    random: bool = False
    first: str = "none"
    scales: float | Sequence[float] = (1.0, 5.0)
    longest: int | str = "auto"
    candidates: int = 200
    penalty: float | Sequence[float] = (25.0, 5.0, 1.0)
    folds: int = 5
    fit_on: str = "valid"
    seed: int = 0

    def __post_init__(self) -> None:
        require_int("infusion.neighbors", self.neighbors, 1)
        check_weights(self.weights)
        require_choice("infusion.metric", self.metric, METRICS)
        require_bool("infusion.random", self.random)
        require_choice("infusion.first", self.first, FIRST)
        require_int("infusion.seed", self.seed, 0)
        for scale in require_some("infusion.scales", self.scales):
            require_float("infusion.scales", scale, strict=True)
        if self.longest != "auto" and self.longest not in range(1, LONGEST + 1):
            raise ConfigError(
                f"`infusion.longest` must be auto or a number from 1 to {LONGEST}, but is {self.longest!r}."
            )
        names = [expert.name for expert in self.new_experts()]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ConfigError(f"`infusion.experts` must name each once, but has {twice} more than once.")
        # Only to check how weights are fitted.
        self.fitting()

    @property
    def is_control(self) -> bool:  # type: ignore[override]
        """With neighbours by lot, or without any expert on the network, it measures another's gain."""
        return self.random or self._experts == ("frequency",)

    @property
    def needs_embedding(self) -> bool:  # type: ignore[override]
        """Where experts ask neighbours that are not drawn by lot, or vectors are retrofitted first."""
        return self.first == "retrofit" or (self._asks_neighbors and not self.random)

    @property
    def _experts(self) -> tuple[str | Expert, ...]:
        """Those that are asked for, or the one."""
        return require_some("infusion.experts", self.experts)

    @property
    def _asks_neighbors(self) -> bool:
        return any(expert.needs_neighbors for expert in self.new_experts())

    @property
    def keeps_baseline(self) -> bool:  # type: ignore[override]
        """Its scores have something added; no vector moves unless that came first."""
        return self.first == "none"

    def check(self, n_nodes: int, n_processes: int) -> None:
        """Can neighbours be found, and can what comes first be done?"""
        if self.needs_embedding:
            check_nearest(n_nodes)
        if self.first == "retrofit":
            Retrofit().check(n_nodes, n_processes)

    def fit(
        self, model: KGEModel, space: NetworkSpace, validation: LinkPrediction, retrain: Retrain
    ) -> tuple[KGEModel, Notes]:
        """Let experts learn from the training triples, and fit their weights."""
        before: Notes = {}
        # Of validation's queries the fit knows what model and mix are worth, and they need not be ranked.
        fitted_there = self.fit_on == "valid"
        baseline = None if self.keeps_baseline and fitted_there else validation.mrr(model)
        if self.first == "retrofit":
            model, before = Retrofit().fit(model, space, validation, retrain)
        neighbors, found_neighbors = self._neighbors(space)
        del space  # Of millions of entities it holds gigabytes.
        evidence, notes = fit_evidence(
            model.cpu(),
            validation.kg,
            neighbors,
            self.new_experts(),
            self.fitting(retrain.inverse_temperature, validation.sample),
        )
        by_mode = notes["cross_validated_mrr"]
        valid_mrr = by_mode[notes["mode"]] if fitted_there else validation.mrr(evidence)
        selection = {
            "chosen": self._chosen(notes),
            "kept": notes["mode"] != "none" or bool(before and before["selection"]["kept"]),
            "valid_mrr_baseline": by_mode["none"] if baseline is None else baseline,
            "valid_mrr_infused": valid_mrr,
            **notes,
        }
        if before:
            selection["first"] = before["selection"]
        return evidence, {"selection": selection, "valid_mrr": valid_mrr, **found_neighbors}

    def rebuild(self, model: KGEModel, notes: Notes, kg: KnowledgeGraph) -> KGEModel:
        """The model, perhaps with a known side of its own, and experts that know the training triples."""
        if "first" in notes["selection"]:
            model = Retrofit().rebuild(model, {"selection": notes["selection"]["first"]}, kg)
        evidence = EvidenceModel(model, self.new_experts(), notes["selection"]["inverse_temperature"])
        evidence.attach(facts_of(kg))
        return evidence

    def parts(self, model: KGEModel) -> dict[str, KGEModel]:
        """The model with the frequency of answers alone, which is no network's."""
        return {**model.parts} if isinstance(model, EvidenceModel) else {}

    def why(
        self, model: KGEModel, kg: KnowledgeGraph, side: str, query: tuple[int, int], answer: int
    ) -> list[str]:
        """The model's share and each expert's, with neighbours, paths and contexts by name."""
        if not isinstance(model, EvidenceModel):
            return []
        return sentences(model.explain(side, *query, answer), kg)

    def fitting(self, inverse_temperature: float = 1.0, sample: Sample | None = None) -> Fitting:
        """How weights are fitted to a model whose scores had such a factor in its training."""
        return Fitting(
            inverse_temperature=inverse_temperature,
            n_candidates=self.candidates,
            penalty=self.penalty,
            folds=self.folds,
            seed=self.seed,
            fit_on=self.fit_on,
            description="evidence",
            sample=sample or Sample(),
        )

    def _neighbors(self, space: NetworkSpace) -> tuple[Neighbors | None, Notes]:
        """Who votes, if they are asked, and the recall of the search for them, if they were sought."""
        if not self._asks_neighbors:
            return None, {}
        if self.random:
            n = space.network.n_nodes
            return weigh(random_neighbors(n, self.neighbors, self.seed, space.network.isolated)), {}
        nearest = space.nearest(self.neighbors, self.metric)
        vectors = space.vectors if self.weights == "cosine" else None
        return weigh(nearest.rows, vectors), {"neighbor_recall": nearest.recall}

    def new_experts(self) -> list[Expert]:
        """The experts that were chosen, who have learned nothing yet."""
        arguments: dict[str, dict[str, Any]] = {
            "heat": {"scales": require_some("infusion.scales", self.scales)},
            "paths": {"longest": self.longest},
        }
        made = []
        for each in self._experts:
            if isinstance(each, Expert):
                made.append(each)
                continue
            name = require_choice("infusion.experts", each, tuple(EXPERTS))
            made.append(EXPERTS[name](**arguments.get(name, {})))
        return made

    @staticmethod
    def _chosen(notes: Notes) -> str:
        return {
            "none": "no evidence",
            "one_weight": "evidence, one weight for all relations",
            "by_relation": "evidence, weights by relation",
        }[notes["mode"]]
