"""Triple classification: true ones and false ones told apart by a model, and how well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mohone.data import KnowledgeGraph
from mohone.evaluation.binary import average_precision, brier_score, reliability, roc_auc
from mohone.evaluation.plausibility import Plausibility, check_both, fit_plausibility
from mohone.evaluation.triple_scores import score_triples
from mohone.kge import KGEModel


class Verdicts(NamedTuple):
    """Of n triples: the chance that each is true, `(n,)` float64, and is it plausible, `(n,)` of bool."""

    probability: Tensor
    plausible: Tensor


@dataclass(frozen=True)
class Classifier:
    """Says of triples how plausible they are.

    Attributes:
        model: gives the scores.
        plausibility: fitted on validation.
    """

    model: KGEModel
    plausibility: Plausibility

    def classify(self, triples: Tensor) -> Verdicts:
        """The verdicts on triples of ids `(n, 3)`."""
        order = triples[:, 1].argsort(stable=True)  # A model with matrices uses each once.
        scores = torch.empty(len(triples))
        scores[order] = score_triples(self.model, triples[order]).float()
        relation = triples[:, 1]
        return Verdicts(
            self.plausibility.probability(scores, relation), self.plausibility.plausible(scores, relation)
        )

    def report(self, true: Tensor, false: Tensor) -> dict[str, Any]:
        """How well true and false triples are told apart, in plain types.

        Args:
            true, false: `(n, 3)` ids of each.

        Raises:
            DataError: one of them is empty.
        """
        triples, truth = _labelled(true, false)
        check_both("Test", truth)
        probability, plausible = (each.numpy() for each in self.classify(triples))
        right = plausible == truth.numpy()
        by_relation = triples[:, 1]
        return {
            "n_true": len(true),
            "n_false": len(false),
            "accuracy": float(right.mean()),
            "roc_auc": roc_auc(probability, truth.numpy()),
            "average_precision": average_precision(probability, truth.numpy()),
            "brier": brier_score(probability, truth.numpy()),
            "reliability": reliability(probability, truth.numpy()),
            "relations": {
                r: {
                    "n": int((by_relation == r).sum()),
                    "threshold": float(self.plausibility.threshold[r]),
                    "accuracy": float(right[by_relation.numpy() == r].mean()),
                }
                for r in by_relation.unique().tolist()
            },
        }


def fit_classifier(model: KGEModel, kg: KnowledgeGraph, false: Tensor) -> Classifier:
    """A classifier fitted on the validation triples and on false ones, `(n, 3)` ids.

    Raises:
        DataError: there are no false ones.
    """
    triples, truth = _labelled(kg.valid, false)
    triples, truth = triples[order := triples[:, 1].argsort(stable=True)], truth[order]
    scores = score_triples(model, triples)
    return Classifier(model, fit_plausibility(scores, triples[:, 1], truth, kg.n_relations))


def _labelled(true: Tensor, false: Tensor) -> tuple[Tensor, Tensor]:
    """All of them, and which are true."""
    return torch.cat([true, false]), torch.arange(len(true) + len(false)) < len(true)
