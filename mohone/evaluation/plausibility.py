"""Is a triple plausible? A threshold of each relation and a calibrated probability, fitted on validation.

**Calibration** is logistic in the score (Platt's), by relation, shrunk to that of all relations:
`logit p = (a + a_r) z + (b + b_r)` with the standardised score z and a penalty of `PENALTY / 2` times the sum
of `a_r^2 + b_r^2`. Isotonic regression has no such shrinkage, and most relations have too few validation
triples for one of their own. As in Platt's paper, true triples are fitted to (N+ + 1) / (N+ + 2) and false
ones to 1 / (N- + 2), of N+ and N- of them: the fewer there are, the less sure is a probability, also where
scores tell them apart without a fault. The problem is convex and has two numbers for each relation: L-BFGS.

**Thresholds** are the cuts of most right verdicts on validation, by relation; of several the one next to
where p is a half. A relation with fewer than `FEWEST` triples there, or of one kind alone, is cut at a
half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from mohone.core.errors import DataError
from mohone.core.parallel import Array

PENALTY = 1.0  # A relation's own numbers have about this variance, a priori, in units of a logit.
FEWEST = 10


@dataclass(frozen=True)
class Plausibility:
    """What makes a verdict and a probability of a score.

    Attributes:
        slope, offset: `(n_relations,)` float64, of the logit as a function of the score.
        threshold: `(n_relations,)` float64; scores from there on are plausible.
    """

    slope: Tensor
    offset: Tensor
    threshold: Tensor

    def probability(self, scores: Tensor, relation: Tensor) -> Tensor:
        """That triples of these scores and relations are true, where half of all are: `(n,)` float64."""
        return torch.sigmoid(scores.double() * self.slope[relation] + self.offset[relation])

    def plausible(self, scores: Tensor, relation: Tensor) -> Tensor:
        """`(n,)` of bool."""
        return scores.double() >= self.threshold[relation]


def check_both(split: str, truth: Tensor) -> None:
    """Refuse triples of a split that are all true, or all false.

    Raises:
        DataError: they are.
    """
    if truth.all() or not truth.any():
        kind = "true" if truth.any() else "false"
        raise DataError(f"{split} must have true and false triples, but has {kind} ones only.")


def fit_plausibility(scores: Tensor, relation: Tensor, truth: Tensor, n_relations: int) -> Plausibility:
    """Fit calibration and thresholds.

    Args:
        scores: `(n,)`.
        relation: `(n,)` ids.
        truth: `(n,)` of bool, some of both.
        n_relations: of the data set, with those that no triple here has.

    Raises:
        DataError: all triples are true, or none.
    """
    check_both("Validation", truth)
    slope, offset = _calibrate(scores.double(), relation, truth, n_relations)
    boundary = -offset / slope
    threshold = boundary.clone()
    order = relation.argsort(stable=True)
    for part in order.split(torch.bincount(relation, minlength=n_relations).tolist()):
        own = truth[part]
        if len(part) >= FEWEST and own.any() and not own.all():
            r = int(relation[part[0]])
            threshold[r] = best_cut(scores[part].double().numpy(), own.numpy(), float(boundary[r]))
    return Plausibility(slope, offset, threshold)


def best_cut(scores: Array, truth: Array, near: float) -> float:
    """The cut of most right verdicts; of several the one nearest to a number.

    Cuts lie midway between neighbouring scores, at the lowest score (all are plausible) or just above the
    highest (none is).

    Example:
        >>> best_cut(np.array([1.0, 2.0, 4.0, 6.0]), np.array([False, True, False, True]), near=5.5)
        5.0
    """
    values, place = np.unique(scores, return_inverse=True)
    true = np.bincount(place[truth], minlength=len(values))
    false = np.bincount(place[~truth], minlength=len(values))
    # Right verdicts of the cut below value i: the false ones below it and the true ones from it on.
    right = np.append(0, false.cumsum()) + true.sum() - np.append(0, true.cumsum())
    cuts = np.concatenate([values[:1], (values[1:] + values[:-1]) / 2, [np.nextafter(values[-1], np.inf)]])
    best = cuts[right == right.max()]
    return float(best[np.abs(best - near).argmin()])


def smoothed(truth: Tensor) -> Tensor:
    """What probabilities are fitted to: `(n,)` float64, Platt's targets.

    Example:
        >>> smoothed(torch.tensor([True, True, False])).tolist()
        [0.75, 0.75, 0.3333333333333333]
    """
    n_true, n_false = int(truth.sum()), int((~truth).sum())
    high, low = (n_true + 1) / (n_true + 2), 1 / (n_false + 2)
    return low + (high - low) * truth.double()


def _calibrate(scores: Tensor, relation: Tensor, truth: Tensor, n_relations: int) -> tuple[Tensor, Tensor]:
    """Slope and offset of each relation's logit, in the units of the scores; slopes are positive."""
    mean, std = scores.mean(), scores.std().clamp(min=1e-12)
    z, target = (scores - mean) / std, smoothed(truth)
    shared = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    own = torch.zeros(n_relations, 2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([shared, own], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        slope, offset = (shared + own)[relation].T
        value = F.binary_cross_entropy_with_logits(slope * z + offset, target, reduction="sum")
        value = value + PENALTY / 2 * own.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    slope, offset = (shared + own).detach().T
    slope = slope.clamp(min=1e-3)  # A relation whose better scores are worse has nothing to say.
    return slope / std, offset - slope * mean / std
