"""The fit of weights against a general optimiser in float64, and the choice between the kinds of mixes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from mohone.evidence.choice import choose_mix, folds_of
from mohone.evidence.mix import Lists, fit_mix, list_ranks, list_scores, unmixed

G, V = 4, 3


def some_lists(seed: int = 0, n: int = 120, k: int = 12, strength: float = 1.0) -> Lists:
    """Lists whose answers are drawn by weights of their group, shorter ones and lost answers among them."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(n, k, V)).astype(np.float32)
    group = np.sort(draw.integers(0, G - 1, n))  # The last group has no query.
    truth = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.5], [1.0, 1.0, -1.0]]) * strength
    lengths = draw.integers(2, k + 1, n)
    scores = np.einsum("nkv,nv->nk", values, truth[group]) + draw.gumbel(size=(n, k))
    scores[np.arange(k) >= lengths[:, None]] = -np.inf
    gold = np.where(draw.random(n) < 0.1, -1, scores.argmax(1))
    own = np.where(np.arange(k) < lengths[:, None], values[:, :, 0], -np.inf)
    rank = 1.0 + (own > np.take_along_axis(own, np.maximum(gold, 0)[:, None], 1)).sum(1)
    return Lists(values, gold, lengths, group, np.where(gold >= 0, rank, 100.0))


def loss(lists: Lists, shared: np.ndarray, own: np.ndarray, penalty: float) -> float:
    """What is to be minimised, written out."""
    total = 1e-3 * ((shared - np.eye(1, V)[0]) ** 2).sum() + penalty * (own**2).sum()
    for values, gold, length, group in zip(*lists[:4], strict=True):
        if gold >= 0:
            scores = values[:length].astype(float) @ (shared + own[group])
            total += np.log(np.exp(scores).sum()) - scores[gold]
    return float(total)


@pytest.mark.parametrize("penalty", [0.5, 25.0, None])
def test_weights_are_those_of_a_general_optimiser(penalty: float | None) -> None:
    lists = some_lists()

    def objective(flat: np.ndarray) -> float:
        own = flat[V:].reshape(G, V) if penalty is not None else np.zeros((G, V))
        return loss(lists, flat[:V], own, penalty or 0.0)

    n = V if penalty is None else V + G * V
    expected = minimize(objective, np.zeros(n), method="BFGS", options={"gtol": 1e-6}).x
    mix = fit_mix(lists, G, penalty)
    np.testing.assert_allclose(mix.shared, expected[:V], atol=2e-4)
    if penalty is not None:
        np.testing.assert_allclose(mix.own, expected[V:].reshape(G, V), atol=2e-4)
    else:
        assert not mix.own.any()


def test_a_warm_start_changes_nothing() -> None:
    lists = some_lists()
    cold = fit_mix(lists, G, 2.0)
    warm = fit_mix(lists, G, 2.0, start=fit_mix(some_lists(1), G, 2.0))
    np.testing.assert_allclose(cold.weights, warm.weights, atol=1e-3)


def test_only_used_queries_count_and_their_order_does_not() -> None:
    lists = some_lists()
    used = np.arange(len(lists.gold)) % 3 != 0
    expected = fit_mix(Lists(*(part[used] for part in lists)), G, 2.0)
    np.testing.assert_array_equal(fit_mix(lists, G, 2.0, used).weights, expected.weights)
    mixed = np.random.default_rng(0).permutation(len(used))
    again = fit_mix(Lists(*(part[mixed] for part in lists)), G, 2.0, used[mixed])
    np.testing.assert_allclose(again.weights, expected.weights, atol=1e-9)


def test_threads_change_nothing() -> None:
    lists, n_threads = some_lists(), torch.get_num_threads()
    expected = fit_mix(lists, G, 2.0)
    try:
        torch.set_num_threads(3)
        np.testing.assert_array_equal(fit_mix(lists, G, 2.0).weights, expected.weights)
    finally:
        torch.set_num_threads(n_threads)


def test_what_lies_behind_a_lists_end_plays_no_part() -> None:
    lists = some_lists()
    values = lists.values.copy()
    values[np.arange(values.shape[1]) >= lists.lengths[:, None]] = 1e6
    np.testing.assert_array_equal(
        fit_mix(lists._replace(values=values), G, 2.0).weights, fit_mix(lists, G, 2.0).weights
    )


def test_a_value_that_is_always_zero_is_no_hindrance() -> None:
    lists = some_lists()
    padded = lists._replace(values=np.concatenate([lists.values, np.zeros_like(lists.values[:, :, :1])], 2))
    for penalty in (None, 2.0):
        weights = fit_mix(padded, G, penalty).weights
        np.testing.assert_allclose(weights[:, :V], fit_mix(lists, G, penalty).weights, atol=1e-6)
        assert not weights[:, V].any()


def test_weights_stay_finite_where_an_answer_is_always_found() -> None:
    values = np.zeros((20, 5, 2), np.float32)
    values[:, 0, 1] = 1.0
    zeros = np.zeros(20, np.int64)
    mix = fit_mix(Lists(values, zeros, zeros + 5, zeros, zeros + 1.0), 1, 1.0)
    assert np.isfinite(mix.weights).all()
    assert mix.weights[0, 1] > 5


def test_ranks_are_counts() -> None:
    lists = some_lists()
    weights = np.random.default_rng(0).normal(size=(G, V))
    scores = list_scores(lists, weights)
    for i, rank in enumerate(list_ranks(lists, weights)):
        if lists.gold[i] < 0:
            assert rank == lists.rank[i]
        else:
            own = lists.values[i, : lists.lengths[i]] @ weights[lists.group[i]]
            np.testing.assert_allclose(scores[i, : lists.lengths[i]], own, rtol=1e-4, atol=1e-5)
            assert rank == 1 + (own > own[lists.gold[i]]).sum()
    np.testing.assert_array_equal(list_ranks(lists, unmixed(G, V).weights), lists.rank)


@pytest.mark.parametrize(("strength", "mode"), [(1.0, "by_relation"), (0.0, "none")])
def test_the_choice_is_what_holds_on_other_queries(strength: float, mode: str) -> None:
    lists = some_lists(strength=strength, n=400)
    triples = torch.arange(1200).reshape(400, 3)
    if strength == 0.0:  # The model alone is right, and the other values are noise.
        best = np.where(np.arange(12) < lists.lengths[:, None], lists.values[:, :, 0], -np.inf).argmax(1)
        lists = lists._replace(gold=best, rank=np.ones(400))
    choice = choose_mix(lists, triples, G, [1.0, 100.0], 5, 0)
    assert choice.mode == mode
    assert set(choice.mrr) == {"none", "one_weight", "by_relation"}
    assert choice.mrr["none"] == pytest.approx((1 / lists.rank).mean())
    if mode == "none":
        np.testing.assert_array_equal(choice.mix.weights, unmixed(G, V).weights)
    else:
        assert choice.penalty == 1.0
        assert choice.mrr["by_relation"] == choice.mrr_by_penalty["1"] > choice.mrr["one_weight"]
        np.testing.assert_allclose(choice.mix.weights, fit_mix(lists, G, 1.0).weights, atol=1e-3)


def test_queries_of_a_triple_share_its_fold_wherever_it_stands() -> None:
    triples = torch.randint(0, 50, (500, 3), generator=torch.Generator().manual_seed(0))
    folds = folds_of(triples, 5, 0)
    np.testing.assert_array_equal(folds_of(triples.flip(0), 5, 0), folds[::-1])
    assert np.bincount(folds, minlength=5).min() > 60
    assert (folds_of(triples, 5, 1) != folds).any()
