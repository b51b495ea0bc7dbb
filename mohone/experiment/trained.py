"""A job's models as its stages left them in the store, and how good they are on test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from torch import Tensor

from mohone.core.compiling import Watch, watched
from mohone.core.config import Plain
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.metrics import by_relation, report, summarize
from mohone.evaluation.ranks import Ranks
from mohone.evaluation.significance import compare
from mohone.evaluation.unlinked import reported_settings
from mohone.experiment.stages.runner import Runner
from mohone.infusion import Infusion, NetworkSpace
from mohone.kge import KGEModel


class Figures(NamedTuple):
    """Ranks of the test triples by model and setting, the report on them, and what it all cost."""

    ranks: dict[str, dict[str, Ranks]]
    report: Plain
    watch: Watch


@dataclass(frozen=True)
class TrainedJob:
    """A job's data set and what its stages made; a stage that the store lacks is trained when asked for.

    Attributes:
        runner: of the job's stages.
    """

    runner: Runner

    @property
    def kg(self) -> KnowledgeGraph:
        """The data set."""
        return self.runner.kg

    @property
    def is_infused(self) -> bool:
        """Has it an infusion, whatever validation chose?"""
        return self.runner.plan.has_infusion

    @property
    def has_network(self) -> bool:
        """Has it a network embedding?"""
        return self.runner.plan.has_embedding

    @property
    def baseline(self) -> KGEModel:
        """The model before the infusion."""
        model: KGEModel = self.runner.shared(self.runner.baseline)
        return model

    @property
    def model(self) -> KGEModel:
        """What the job came to: the infused model, or the baseline where there was no infusion."""
        if not self.is_infused:
            return self.baseline
        model: KGEModel = self.runner.shared(self.runner.infusion)
        return model

    @property
    def space(self) -> NetworkSpace:
        """The network, and where its embedding puts the entities."""
        space: NetworkSpace = self.runner.shared(self.runner.network)
        return space

    @property
    def network_vectors(self) -> Tensor:
        """The network embedding: `(n_entities, dim)`."""
        return self.space.vectors

    @property
    def can_say_why(self) -> bool:
        """Is there an infusion that says what spoke for an answer?"""
        infusion = self.runner.plan.infusion
        return self.is_infused and infusion is not None and type(infusion).why is not Infusion.why

    def why(self, side: str, query: tuple[int, int], answer: int) -> list[str]:
        """What spoke for an answer of `model`, in sentences; none where its infusion cannot say.

        Args:
            side: `tail` or `head`, what is asked for.
            query: the known entity and the relation.
            answer: an entity.
        """
        infusion = self.runner.plan.infusion
        if infusion is None or not self.is_infused:
            return []
        return infusion.why(self.model, self.kg, side, query, answer)

    @property
    def report(self) -> Plain:
        """What results have of test: `baseline`, `infused`, `significance`, and `parts`."""
        return self.figures.report

    @cached_property
    def figures(self) -> Figures:
        """The test triples ranked by each model, and the two compared if there are two."""
        models, parts = {"baseline": self.baseline}, {}
        infusion = self.runner.plan.infusion
        if infusion is not None and self.is_infused:
            models["infused"] = self.model
            parts = infusion.parts(self.model)
        return _figures(self.kg, models, parts)


def _figures(kg: KnowledgeGraph, models: dict[str, KGEModel], parts: dict[str, KGEModel]) -> Figures:
    with watched("evaluation") as watch:
        ranks, report_of = _ranks_and_report(kg, models, parts)
    return Figures(ranks, report_of, watch)


def _ranks_and_report(
    kg: KnowledgeGraph, models: dict[str, KGEModel], parts: dict[str, KGEModel]
) -> tuple[dict[str, dict[str, Ranks]], Plain]:
    test = LinkPrediction(kg, "test", reported_settings(kg))
    every = test.ranks_of({**models, **{_alone(name): part for name, part in parts.items()}}, "test")
    ranks = {name: every[name] for name in models}
    out: Plain = {"baseline": None, "infused": None, "significance": None}
    for name, each in ranks.items():
        out[name] = report(each, kg.test, kg)
        out[name]["numbers_per_entity"] = models[name].numbers_per_entity
        out[name]["filtered"]["relations"] = by_relation(each["filtered"], kg.test, kg)
    if "infused" in ranks:
        out["significance"] = _compare(ranks["baseline"], ranks["infused"])
    if parts:
        out["parts"] = {name: _part(every[_alone(name)], ranks) for name in parts}
    return ranks, out


def _alone(part: str) -> str:
    return f"{part} alone"


def _part(own: dict[str, Ranks], ranks: dict[str, dict[str, Ranks]]) -> Plain:
    """The figures of a model between baseline and infused: its gain, and the infused one's beyond it."""
    return {
        "figures": {setting: summarize(each) for setting, each in own.items()},
        "gain": _compare(ranks["baseline"], own),
        "beyond": _compare(own, ranks["infused"]),
    }


def _compare(before: dict[str, Ranks], after: dict[str, Ranks]) -> Plain:
    return {setting: compare(before[setting], after[setting]) for setting in before}
