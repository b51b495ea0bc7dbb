"""None, one weight for all relations, or weights by relation: chosen by cross-validation over triples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from torch import Tensor

from mohone.core.errors import require_some
from mohone.core.parallel import Array
from mohone.core.random import stream
from mohone.evidence.mix import Lists, Mix, fit_mix, list_ranks, unmixed

NONE, SHARED, BY_RELATION = "none", "one_weight", "by_relation"


class Choice(NamedTuple):
    """The chosen mix, fitted on all queries, and what it was chosen by.

    Attributes:
        mode: `none`, `one_weight` or `by_relation`.
        penalty: of weights by relation.
        mix: the weights.
        mrr: cross-validated MRR by mode; of `by_relation` the best penalty's. A right answer outside its list
            counts at the rank that the model alone gives it.
    """

    mode: str
    penalty: float
    mix: Mix
    mrr: dict[str, float]
    mrr_by_penalty: dict[str, float]


def choose_mix(
    lists: Lists, triples: Tensor, n_groups: int, penalty: float | Sequence[float], n_folds: int, seed: int
) -> Choice:
    """Choose by the MRR of queries that the weights were not fitted on; the simpler of equals.

    Args:
        lists: of n queries.
        triples: `(n, 3)` that they ask for; both queries of a triple fall in one fold.
        n_groups: of weights.
        penalty: of weights by relation, or several to choose from.
        n_folds: >= 2.
        seed: of the folds.
    """
    penalties = require_some("infusion.penalty", penalty)
    folds = folds_of(triples, n_folds, seed)
    fits: dict[float | None, tuple[float, Mix]] = {}
    start = None
    for one in (None, *sorted(penalties, reverse=True)):
        start = fit_mix(lists, n_groups, one, start=start)
        fits[one] = _cross_validated(lists, n_groups, one, folds, start), start
    alone = unmixed(n_groups, lists.values.shape[2])
    best = max(penalties, key=lambda one: fits[one][0])
    modes: dict[str, tuple[float, Mix]] = {
        NONE: (mrr_of(lists.rank), alone),
        SHARED: fits[None],
        BY_RELATION: fits[best],
    }
    mode = max(modes, key=lambda name: modes[name][0])
    return Choice(
        mode=mode,
        penalty=float(best),
        mix=modes[mode][1],
        mrr={name: mrr for name, (mrr, _) in modes.items()},
        mrr_by_penalty={f"{one:g}": fits[one][0] for one in penalties},
    )


def mrr_of(ranks: Array) -> float:
    """The mean reciprocal rank; 0 of none."""
    return float((1.0 / ranks).mean()) if len(ranks) else 0.0


def _cross_validated(lists: Lists, n_groups: int, penalty: float | None, folds: Array, start: Mix) -> float:
    ranks = np.empty(len(folds))
    for fold in np.unique(folds):
        mix = fit_mix(lists, n_groups, penalty, folds != fold, start)
        held = np.flatnonzero(folds == fold)
        ranks[held] = list_ranks(Lists(*(part[held] for part in lists)), mix.weights)
    return mrr_of(ranks)


def folds_of(triples: Tensor, n_folds: int, seed: int) -> Array:
    """The fold of each triple, `(n,)`: a function of its ids and the seed alone."""
    return np.asarray(_folds(np.uint64(seed), triples.numpy(), n_folds))


@njit(cache=True, nogil=True)
def _folds(key: np.uint64, triples: Array, n_folds: int) -> Any:
    out = np.empty(len(triples), np.int64)
    for i in range(len(triples)):
        state = key
        for j in range(3):
            state = stream(state, triples[i, j])
        out[i] = np.int64((state >> np.uint64(32)) % np.uint64(n_folds))
    return out
