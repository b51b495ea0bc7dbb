import sys

import pytest
import torch

from mohone.core.errors import ConfigError
from mohone.core.nearest import nearest_neighbors, nearest_to


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbors_equal_a_loop(monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    monkeypatch.setattr("mohone.core.nearest._BLOCK_ELEMENTS", 50)
    torch.manual_seed(0)
    vectors = torch.randn(20, 4)
    excluded = torch.zeros(20, dtype=torch.bool)
    excluded[[3, 11]] = True
    found = nearest_neighbors(vectors, 5, metric, excluded)
    assert found.recall == 1.0
    for i in range(20):
        if excluded[i]:
            assert found.rows[i].tolist() == [-1] * 5
            continue
        others = [j for j in range(20) if j != i and not excluded[j]]
        if metric == "cosine":
            others.sort(key=lambda j: -float(torch.cosine_similarity(vectors[i], vectors[j], dim=0)))
        else:
            others.sort(key=lambda j: float((vectors[i] - vectors[j]).norm()))
        assert found.rows[i].tolist() == others[:5]
        assert nearest_to(vectors, i, 5, metric, excluded).rows.tolist() == others[:5]
    assert len(nearest_to(vectors, 3, 5, metric, excluded).rows) == 0
    assert len(nearest_to(vectors, 0, 99, metric, excluded).rows) == 17


def test_fewer_rows_than_neighbors() -> None:
    assert nearest_neighbors(torch.randn(3, 2), 10).rows.shape == (3, 2)
    alone = torch.tensor([False, True, True])
    assert nearest_neighbors(torch.randn(3, 2), 10, excluded=alone).rows.shape == (3, 0)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_large_tables_are_searched_by_lists_with_the_recall_stated(metric: str) -> None:
    pytest.importorskip("faiss")
    torch.manual_seed(0)
    vectors = torch.randn(40, 8)[torch.arange(4000) % 40] + 0.3 * torch.randn(4000, 8)
    excluded = torch.zeros(4000, dtype=torch.bool)
    excluded[[3, 11]] = True
    exact = nearest_neighbors(vectors, 5, metric, excluded).rows
    found, recall = nearest_neighbors(vectors, 5, metric, excluded, most_exact=100)
    assert (found[[3, 11]] == -1).all()
    assert not (found == torch.arange(4000)[:, None]).any()
    hits = (exact[:, :, None] == found[:, None, :]).any(2)[~excluded].float().mean()
    assert 0.8 < float(hits) <= 1.0
    assert recall == pytest.approx(float(hits), abs=0.05)
    again = nearest_neighbors(vectors, 5, metric, excluded, most_exact=100).rows
    assert torch.equal(found, again)


def test_large_tables_need_faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ConfigError, match="`faiss-cpu` must be installed"):
        nearest_neighbors(torch.randn(5, 2), 1, most_exact=4)


def test_bad_values_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`metric` must be one of cosine, euclidean"):
        nearest_neighbors(torch.randn(3, 2), 1, "manhattan")
