"""Ranks against the plainest loop there is."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohone.evaluation.known_answers import mask_known
from mohone.evaluation.ranks import Ranks, rank_all, rank_among


def loop_rank(
    scores: list[float], answer: int, candidates: set[int], known: set[int]
) -> tuple[int, int, int]:
    """Optimistic and pessimistic rank, number of candidates: one query, one comparison at a time."""
    above = level = 0
    others = (candidates - known) - {answer}
    for candidate in others:
        if scores[candidate] > scores[answer]:
            above += 1
        elif scores[candidate] == scores[answer]:
            level += 1
    return 1 + above, 1 + above + level, len(others) + 1


def pairs(sets: list[set[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    flat = torch.tensor([(i, c) for i, s in enumerate(sets) for c in sorted(s)], dtype=torch.int64)
    return flat.reshape(-1, 2)[:, 0], flat.reshape(-1, 2)[:, 1]


def as_tuples(ranks: Ranks) -> list[tuple[int, int, int]]:
    return list(
        zip(ranks.optimistic.tolist(), ranks.pessimistic.tolist(), ranks.n_candidates.tolist(), strict=True)
    )


@st.composite
def queries(draw: st.DrawFn) -> tuple[list[list[float]], list[int], list[set[int]], list[set[int]]]:
    n, width = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    # Few distinct values: ties are the rule.
    score = st.integers(-2, 2).map(float)
    ids = st.integers(0, width - 1)
    rows = st.lists(score, min_size=width, max_size=width)
    return (
        draw(st.lists(rows, min_size=n, max_size=n)),
        draw(st.lists(ids, min_size=n, max_size=n)),
        draw(st.lists(st.sets(ids), min_size=n, max_size=n)),
        draw(st.lists(st.sets(ids), min_size=n, max_size=n)),
    )


@given(queries())
def test_ranks_equal_the_loop(
    drawn: tuple[list[list[float]], list[int], list[set[int]], list[set[int]]],
) -> None:
    scores, answers, candidates, known = drawn
    table, gold = torch.tensor(scores), torch.tensor(answers)
    width = table.shape[1]

    everyone = [loop_rank(s, a, set(range(width)), k) for s, a, k in zip(scores, answers, known, strict=True)]
    masked = mask_known(table, gold, pairs(known))
    assert as_tuples(rank_all(masked)) == everyone

    columns = [torch.tensor(sorted(c), dtype=torch.int64) for c in candidates]
    some = [loop_rank(s, a, c, k) for s, a, c, k in zip(scores, answers, candidates, known, strict=True)]
    one_by_one = [rank_among(masked, slice(i, i + 1), c) for i, c in enumerate(columns)]
    assert as_tuples(Ranks.cat(one_by_one)) == some

    together = [loop_rank(s, a, candidates[0], k) for s, a, k in zip(scores, answers, known, strict=True)]
    assert as_tuples(rank_among(masked, slice(None), columns[0])) == together


def test_ties_take_the_mean() -> None:
    ranks = rank_all(mask_known(torch.zeros(1, 4), torch.tensor([3]), pairs([{2, 3}])))
    assert ranks.mean.tolist() == [2.0]


@pytest.mark.parametrize("broken", [[0.0, float("nan"), 1.0], [float("nan")] * 3])
def test_nan_ranks_last(broken: list[float]) -> None:
    ranks = rank_all(mask_known(torch.tensor([broken]), torch.tensor([1]), pairs([set()])))
    assert ranks.mean.tolist() == [3.0]
