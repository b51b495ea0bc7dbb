import pytest
import torch

from mohone.evaluation.metrics import relation_categories, summarize, tie_warning
from mohone.evaluation.ranks import Ranks
from tests.helpers.graphs import kg_of


def ranks_of(optimistic: list[int], pessimistic: list[int] | None = None, n: int = 100) -> Ranks:
    first = torch.tensor(optimistic)
    return Ranks(first, torch.tensor(pessimistic or optimistic), torch.full_like(first, n))


def test_figures_by_hand() -> None:
    figures = summarize(ranks_of([1, 2, 4]))
    assert figures["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 4) / 3)
    assert figures["hits@1"] == pytest.approx(1 / 3)
    assert figures["hits@3"] == pytest.approx(2 / 3)
    assert figures["hits@10"] == 1.0
    assert figures["mr"] == pytest.approx(7 / 3)
    assert figures["amri"] == pytest.approx(1 - (7 / 3 - 1) / (50.5 - 1))


def test_tied_ranks_count_by_their_mean() -> None:
    assert summarize(ranks_of([1], [10]))["mrr"] == pytest.approx(1 / 5.5)
    assert summarize(ranks_of([10], [11]))["hits@10"] == 0.0


def test_one_candidate_is_always_right() -> None:
    assert summarize(ranks_of([1], n=1))["amri"] == 1.0


def test_categories_by_hand() -> None:
    kg = kg_of(
        {
            "train": [
                *("a one b", "a many b", "a many c", "a many d", "b back a", "c back a"),
                *("a all b", "a all c", "d all b", "d all c"),
            ],
            "valid": ["a one c"],
            "test": ["a new b"],
        }
    )
    named = dict(zip(kg.relations.names, relation_categories(kg), strict=True))
    assert named == {"one": "1-1", "many": "1-N", "back": "N-1", "all": "N-N", "new": "1-1"}


def test_ties_are_warned_of() -> None:
    figures = {"mrr": 0.5, "mrr_optimistic": 0.5004, "mrr_pessimistic": 0.4996}
    assert tie_warning("filtered", figures) is None
    figures["mrr_optimistic"] = 0.51
    assert "between 0.4996 and 0.5100" in str(tie_warning("filtered", figures))
