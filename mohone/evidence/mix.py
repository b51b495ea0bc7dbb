"""How much each value counts: weights of a log-linear mix, fitted by Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from mohone.core.parallel import Array, in_chunks

_RIDGE = 1e-3  # Pull of the shared weights to their start: they stay finite where an answer is always found.
_MOST_STEPS = 50
_TOLERANCE = 1e-9  # Nats a query that a step must promise, or the fit is done.
_NEGLIGIBLE = 1e-9  # A candidate's chance that no derivative notices.


class Lists(NamedTuple):
    """Queries as lists of candidates.

    Attributes:
        values: `(n, k, n_values)` float32; the first value is the model's own score.
        gold: `(n,)` int64 place of the right answer; -1: outside the list.
        lengths: `(n,)` int64 candidates of each list, the first of its k rows.
        group: `(n,)` int64.
        rank: `(n,)` float64 of the right answer by the model alone, among all entities.
    """

    values: Array
    gold: Array
    lengths: Array
    group: Array
    rank: Array


class Mix(NamedTuple):
    """Weights of values: `shared + own[group]`.

    Attributes:
        shared: `(n_values,)` float64.
        own: `(n_groups, n_values)` float64.
    """

    shared: Array
    own: Array

    @property
    def weights(self) -> Array:
        """`(n_groups, n_values)`."""
        return np.asarray(self.shared + self.own)


def unmixed(n_groups: int, n_values: int) -> Mix:
    """The model alone."""
    return Mix(np.eye(1, n_values)[0], np.zeros((n_groups, n_values)))


def fit_mix(
    lists: Lists, n_groups: int, penalty: float | None, used: Array | None = None, start: Mix | None = None
) -> Mix:
    """The weights with the least `sum of -log softmax(values . weights)[gold] + penalty |own|^2`.

    The sum is over the queries whose answer is in their list. The shared weights are not penalised, but for
    `1e-3 |shared - (1, 0, ..., 0)|^2`, which keeps them finite. The problem is convex and the groups meet in
    the shared weights alone, so that a Newton step solves one small system a group.

    Args:
        lists: of n queries.
        n_groups: groups lie below.
        penalty: > 0; None: all groups have the same weights.
        used: `(n,)` of bool: the queries that count; None: all.
        start: where to start from; it changes nothing but the time it takes.
    """
    alone = unmixed(n_groups, lists.values.shape[2])
    mix = alone if start is None else start
    used = lists.gold >= 0 if used is None else used & (lists.gold >= 0)
    if penalty is None:
        mix = Mix(mix.shared, np.zeros_like(mix.own))
    n_used = max(1, int(used.sum()))
    value, terms = _objective(lists, used, mix, penalty)
    for _ in range(_MOST_STEPS):
        step = _newton(terms, mix, penalty)
        promise = -_slope(terms, mix, step, penalty)
        if promise < _TOLERANCE * n_used:
            break
        size = 1.0
        while True:
            tried = Mix(mix.shared + size * step.shared, mix.own + size * step.own)
            tried_value, tried_terms = _objective(lists, used, tried, penalty)
            if tried_value <= value - 1e-4 * size * promise or size < 1e-6:
                break
            size /= 2
        if tried_value >= value:
            break
        mix, value, terms = tried, tried_value, tried_terms
    return mix


def list_scores(lists: Lists, weights: Array) -> Array:
    """The mixed score of each candidate: `(n, k)` float32, minus infinity after a list's end."""
    out = np.empty(lists.values.shape[:2], np.float32)
    weights = weights.astype(np.float32)
    in_chunks(lambda start, stop: _scores(lists, weights, start, stop, out), len(out))
    return out


def list_ranks(lists: Lists, weights: Array) -> Array:
    """The mean rank of the right answer in its list, `(n,)`; that of the model alone where it is outside."""
    scores = list_scores(lists, weights)
    inside = lists.gold >= 0
    gold = np.take_along_axis(scores, np.maximum(lists.gold, 0)[:, None], 1)
    ranks = 0.5 + (scores > gold).sum(1) + (scores == gold).sum(1) / 2
    return np.where(inside, ranks, lists.rank)


class _Terms(NamedTuple):
    """Gradients `(n_groups, n_values)` and Hessians `(n_groups, n_values, n_values)` of groups' losses."""

    gradient: Array
    hessian: Array


def _objective(lists: Lists, used: Array, mix: Mix, penalty: float | None) -> tuple[float, _Terms]:
    n_groups, n_values = mix.own.shape
    # A group is one thread's, so that sums have one order.
    order = np.flatnonzero(used)
    order = order[np.argsort(lists.group[order], kind="stable")]
    bounds = np.searchsorted(lists.group[order], np.arange(n_groups + 1))
    loss = np.zeros(n_groups)
    terms = _Terms(np.zeros((n_groups, n_values)), np.zeros((n_groups, n_values, n_values)))
    weights = mix.weights

    def loop(start: int, stop: int) -> None:
        _accumulate(lists, order, bounds, weights, start, stop, loss, *terms)

    in_chunks(loop, n_groups, least=1)
    away = mix.shared - np.eye(1, n_values)[0]
    value = loss.sum() + _RIDGE * away @ away + (penalty or 0.0) * (mix.own**2).sum()
    return float(value), terms


def _slope(terms: _Terms, mix: Mix, step: Mix, penalty: float | None) -> float:
    """The derivative of the objective along a step."""
    away = mix.shared - np.eye(1, len(mix.shared))[0]
    along = (terms.gradient.sum(0) + 2 * _RIDGE * away) @ step.shared
    along += ((terms.gradient + 2 * (penalty or 0.0) * mix.own) * step.own).sum()
    return float(along)


def _newton(terms: _Terms, mix: Mix, penalty: float | None) -> Mix:
    """The step to the minimum of the quadratic model; the groups' weights are eliminated first."""
    n_values = len(mix.shared)
    away = mix.shared - np.eye(1, n_values)[0]
    gradient = terms.gradient.sum(0) + 2 * _RIDGE * away
    hessian = terms.hessian.sum(0) + 2 * _RIDGE * np.eye(n_values)
    if penalty is None:
        return Mix(-np.linalg.solve(hessian, gradient), np.zeros_like(mix.own))
    own_gradient = terms.gradient + 2 * penalty * mix.own
    own_hessian = terms.hessian + 2 * penalty * np.eye(n_values)
    right = np.concatenate([own_gradient[:, :, None], terms.hessian], 2)
    solved = np.linalg.solve(own_hessian, right)
    reduced = hessian - np.einsum("gij,gjk->ik", terms.hessian, solved[:, :, 1:])
    pull = gradient - np.einsum("gij,gj->i", terms.hessian, solved[:, :, 0])
    shared = -np.linalg.solve(reduced, pull)
    return Mix(shared, -solved[:, :, 0] - solved[:, :, 1:] @ shared)


@njit(cache=True, nogil=True)
def _scores(lists: Lists, weights: Array, start: int, stop: int, out: Array) -> None:
    n_values = weights.shape[1]
    for i in range(start, stop):
        own = weights[lists.group[i]]
        for j in range(out.shape[1]):
            total = np.float32(0.0)
            for v in range(n_values):
                total += own[v] * lists.values[i, j, v]
            out[i, j] = total if j < lists.lengths[i] else -np.inf


@njit(cache=True, nogil=True)
def _accumulate(
    lists: Lists,
    order: Array,
    bounds: Array,
    weights: Array,
    start: int,
    stop: int,
    loss: Array,
    gradient: Array,
    hessian: Array,
) -> None:
    n_values = weights.shape[1]
    scores, mean = np.empty(lists.values.shape[1]), np.empty(n_values)
    for group in range(start, stop):
        own = weights[group]
        for at in range(bounds[group], bounds[group + 1]):
            i = order[at]
            values, length, gold = lists.values[i], lists.lengths[i], lists.gold[i]
            highest = -np.inf
            for j in range(length):
                scores[j] = 0.0
                for v in range(n_values):
                    scores[j] += own[v] * values[j, v]
                highest = max(highest, scores[j])
            total = 0.0
            for j in range(length):
                total += np.exp(scores[j] - highest)
            loss[group] += highest + np.log(total) - scores[gold]
            mean[:] = 0.0
            for j in range(length):
                chance = np.exp(scores[j] - highest) / total
                if chance > _NEGLIGIBLE:
                    for v in range(n_values):
                        part = chance * values[j, v]
                        mean[v] += part
                        for u in range(v + 1):
                            hessian[group, v, u] += part * values[j, u]
            for v in range(n_values):
                gradient[group, v] += mean[v] - values[gold, v]
                for u in range(v + 1):
                    hessian[group, v, u] -= mean[v] * mean[u]
        for v in range(n_values):
            for u in range(v):
                hessian[group, u, v] = hessian[group, v, u]
