"""True triples told from false ones: metrics and thresholds against loops, calibration at its optimum."""

import numpy as np
import pytest
import torch

from mohone.core.errors import DataError
from mohone.data import KnowledgeGraph
from mohone.data.corruption import draw_negatives, head_chances
from mohone.evaluation.binary import average_precision, brier_score, reliability, roc_auc
from mohone.evaluation.classification import fit_classifier
from mohone.evaluation.plausibility import FEWEST, PENALTY, best_cut, fit_plausibility, smoothed
from tests.helpers.graphs import kg_of
from tests.helpers.training import new_transe


@pytest.fixture
def drawn() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    return generator.integers(0, 12, 60) / 12, generator.random(60) < 0.4


def test_metrics_equal_loops(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    values, truth = drawn
    pairs = [(a > b) + (a == b) / 2 for a in values[truth] for b in values[~truth]]
    assert roc_auc(values, truth) == pytest.approx(sum(pairs) / len(pairs))
    found, recall = 0.0, 0.0
    for cut in sorted(set(values), reverse=True):
        chosen = truth[values >= cut]
        found += chosen.mean() * (chosen.sum() / truth.sum() - recall)
        recall = chosen.sum() / truth.sum()
    assert average_precision(values, truth) == pytest.approx(found)
    assert brier_score(values, truth) == pytest.approx(
        sum((p - y) ** 2 for p, y in zip(*drawn, strict=True)) / 60
    )
    for each in reliability(values, truth, 4):
        inside = [y for p, y in zip(*drawn, strict=True) if each["from"] <= p < each["to"]]
        assert (each["n"], each["true"]) == (len(inside), pytest.approx(np.mean(inside)))
    assert sum(each["n"] for each in reliability(values, truth)) == 60


def test_the_cut_has_the_most_right_verdicts_and_is_the_nearest_such(
    drawn: tuple[np.ndarray, np.ndarray],
) -> None:
    for shift, near in ((0, 0.1), (7, 0.9), (30, -5.0), (30, 5.0)):
        values, truth = drawn[0], np.roll(drawn[1], shift)
        cuts = [-1.0, *np.arange(-0.5, 13) / 12, 2.0]
        right = [((values >= cut) == truth).sum() for cut in cuts]
        cut = best_cut(values, truth, near)
        assert ((values >= cut) == truth).sum() == max(right)
        best = [each for each, n in zip(cuts, right, strict=True) if n == max(right)]
        assert abs(cut - near) <= min(abs(each - near) for each in best if 0 < each < 1) + 1e-9


def test_calibration_is_at_its_optimum_and_relations_with_little_follow_the_others() -> None:
    generator = torch.Generator().manual_seed(0)
    relation = torch.cat([torch.zeros(3000), torch.ones(3000), torch.full((FEWEST - 1,), 2)]).long()
    scores = 5 * torch.randn(len(relation), generator=generator, dtype=torch.float64) - 20
    chance = torch.sigmoid(
        torch.tensor([0.8, 0.2, 0.5])[relation] * (scores + torch.tensor([20, 24, 22])[relation])
    )
    truth = torch.rand(len(relation), generator=generator) < chance
    fitted = fit_plausibility(scores, relation, truth, n_relations=4)
    assert fitted.slope[:2].tolist() == pytest.approx([0.8, 0.2], rel=0.15)
    assert (fitted.probability(scores, relation) - chance)[:6000].abs().mean() < 0.02
    # Of the penalised likelihood: what a relation's own numbers deviate by is what its residuals ask for.
    z = (scores - scores.mean()) / scores.std()
    residual = smoothed(truth) - fitted.probability(scores, relation)
    pull = torch.tensor(
        [[float(residual[relation == r].sum()), float((residual * z)[relation == r].sum())] for r in range(4)]
    )
    assert pull.sum(0).tolist() == pytest.approx([0, 0], abs=0.05)
    own_slope = fitted.slope * scores.std()
    assert (own_slope[:3] - own_slope[3]).tolist() == pytest.approx(
        (pull[:3, 1] / PENALTY).tolist(), abs=0.05
    )
    # The relation without validation triples is all relations' mean, and cut at a half, as that of few is.
    for r in (2, 3):
        assert float(fitted.probability(fitted.threshold[r], torch.tensor(r))) == pytest.approx(0.5)
    with pytest.raises(DataError, match="true ones only"):
        fit_plausibility(scores, relation, torch.ones_like(truth), 4)


@pytest.mark.parametrize(("n", "high"), [(1, 2 / 3), (2, 3 / 4), (18, 19 / 20)])
def test_few_triples_make_no_probability_sure_though_scores_tell_them_apart(n: int, high: float) -> None:
    truth = torch.tensor([True] * n + [False] * n)
    scores, relation = 3 * truth.double() - 7, torch.zeros(2 * n, dtype=torch.int64)
    probability = fit_plausibility(scores, relation, truth, n_relations=1).probability(scores, relation)
    assert probability.tolist() == pytest.approx([high] * n + [1 - high] * n, abs=1e-4)


@pytest.mark.parametrize("typed", [False, True])
def test_negatives_are_false_have_one_end_of_theirs_and_come_by_seed(
    umls: KnowledgeGraph, typed: bool
) -> None:
    false = draw_negatives(umls, "test", typed, seed=1)
    true = umls.test.tolist()
    known = {tuple(triple) for triple in umls.triples("train", "valid", "test").tolist()}
    on_side = {(r, side): set() for r in range(umls.n_relations) for side in (0, 2)}
    for triple in umls.train.tolist():
        for side in (0, 2):
            on_side[triple[1], side].add(triple[side])
    place, heads = 0, 0
    for other in false.tolist():
        assert tuple(other) not in known
        while sum(a != b for a, b in zip(true[place], other, strict=True)) != 1 or true[place][1] != other[1]:
            place += 1  # One for which no false triple was found.
        changed = 0 if true[place][0] != other[0] else 2
        assert not typed or other[changed] in on_side[other[1], changed]
        heads += changed == 0
        place += 1
    if typed:
        assert 0.8 * len(true) < len(false) < len(true)
    else:
        assert len(false) == len(true)
        assert abs(heads - float(head_chances(umls)[umls.test[:, 1]].sum())) < 60
    assert torch.equal(false, draw_negatives(umls, "test", typed, seed=1))
    assert not torch.equal(false, draw_negatives(umls, "test", typed, seed=2))


def test_where_all_is_true_nothing_is_drawn() -> None:
    every = [f"{h} r {t}" for h in "ab" for t in "ab"]
    kg = kg_of({"train": every[:2], "valid": every[2:3], "test": every[3:]})
    assert len(draw_negatives(kg, "test", False, 0)) == 0


def test_the_report_is_of_each_triples_own_verdict(umls: KnowledgeGraph) -> None:
    model = new_transe(umls)
    false = draw_negatives(umls, "valid", False, 0)
    classifier = fit_classifier(model, umls, false)
    report = classifier.report(umls.valid, false)
    verdicts = classifier.classify(torch.cat([umls.valid, false]))
    right = sum(verdicts.plausible[:652]) + sum(~verdicts.plausible[652:])
    assert report["accuracy"] == pytest.approx(int(right) / 1304)
    for r, each in report["relations"].items():
        assert each["threshold"] == float(classifier.plausibility.threshold[r])
    one = umls.valid[[77]]
    assert classifier.classify(one).probability[0] == pytest.approx(float(verdicts.probability[77]))
    score = float(model.score_triples(*one.T))
    assert bool(verdicts.plausible[77]) == (score >= report["relations"][int(one[0, 1])]["threshold"])


def test_test_must_have_both_kinds(umls: KnowledgeGraph) -> None:
    classifier = fit_classifier(new_transe(umls), umls, umls.valid[:, [2, 1, 0]])
    none = umls.test[:0]
    for true, false, kind in ((umls.test, none, "true"), (none, umls.test, "false"), (none, none, "false")):
        with pytest.raises(DataError, match=f"Test must .* but has {kind} ones only"):
            classifier.report(true, false)
