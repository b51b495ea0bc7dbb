"""How much of validation is ranked: the group `evaluation` of a configuration, settled for a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mohone.core.config import Plain
from mohone.core.errors import ConfigError, require_int
from mohone.data import KnowledgeGraph
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.sample import Sample
from mohone.training.given_up import Least, is_least

_MOST_SCORES = 2 * 10**10  # Of one validation: some two minutes of two cores.
_QUERIES = 10_000  # Of more: then 95 % of MRRs are less than 0.01 off.


@dataclass(frozen=True)
class Validation:
    """The group `evaluation`.

    Attributes:
        queries: that are asked; None: all, but of very large data 10,000.
        candidates: that right answers are compared with while a model is trained; None: all.
        must_reach: the MRR below which the baseline's training is given up, by epochs.
    """

    queries: int | None = None
    candidates: int | None = None
    must_reach: Least = ()

    @classmethod
    def from_config(cls, node: Plain) -> Validation:
        """Check the group.

        Raises:
            ConfigError: a value that cannot be.
        """
        values = [node.get(key) for key in ("valid_queries", "valid_candidates")]
        for key, value, least in zip(("valid_queries", "valid_candidates"), values, (2, 1), strict=True):
            if value is not None:
                require_int(f"evaluation.{key}", value, least)
        return cls(values[0], values[1], _least(node.get("must_reach")))

    def at(self, kg: KnowledgeGraph) -> Validation:
        """How much is ranked of a data set: None where all are asked, or compared."""
        n_queries, queries = 2 * len(kg.valid), self.queries
        if queries is None and n_queries * kg.n_entities > _MOST_SCORES:
            queries = _QUERIES
        few = self.candidates is not None and self.candidates < kg.n_entities
        return Validation(
            queries if queries is not None and queries < n_queries else None, self.candidates if few else None
        )

    @property
    def config(self) -> Plain:
        """What a trained stage's key says of it: nothing, where nothing is drawn."""
        if self == Validation():
            return {}
        return {"evaluation": {"valid_queries": self.queries, "valid_candidates": self.candidates}}

    def sample(self, seed: int) -> Sample:
        """The queries that are asked."""
        return Sample(self.queries, seed=seed)

    def ranking(self, kg: KnowledgeGraph, seed: int) -> LinkPrediction:
        """Ranks the validation triples, filtered, among all entities."""
        return LinkPrediction(kg, "valid", ("filtered",), sample=self.sample(seed))

    def watching(self, kg: KnowledgeGraph, seed: int) -> LinkPrediction:
        """The same, among the drawn candidates: for training, which asks often which weights are the best."""
        sample = Sample(self.queries, self.candidates, seed)
        return LinkPrediction(kg, "valid", ("filtered",), sample=sample)


def _least(value: Any) -> Least:
    """What must be reached, checked: pairs of an epoch and an MRR; null: nothing."""
    pairs = [] if value is None else value
    if not is_least(pairs):
        raise ConfigError(
            "`evaluation.must_reach` must be a list of pairs of an epoch >= 1 and an MRR from 0 to 1, but is "
            f"{value!r}."
        )
    return tuple(sorted((epoch, float(mrr)) for epoch, mrr in pairs))
