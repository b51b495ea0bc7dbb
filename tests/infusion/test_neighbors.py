import pytest
import torch

from mohone.errors import ConfigError
from mohone.infusion.neighbors import nearest_neighbors


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbors_equal_a_loop(monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    monkeypatch.setattr("mohone.infusion.neighbors._BLOCK_ELEMENTS", 50)
    torch.manual_seed(0)
    vectors = torch.randn(20, 4)
    excluded = torch.zeros(20, dtype=torch.bool)
    excluded[[3, 11]] = True
    found = nearest_neighbors(vectors, 5, metric, excluded)
    for i in range(20):
        if excluded[i]:
            assert found[i].tolist() == [-1] * 5
            continue
        others = [j for j in range(20) if j != i and not excluded[j]]
        if metric == "cosine":
            others.sort(key=lambda j: -float(torch.cosine_similarity(vectors[i], vectors[j], dim=0)))
        else:
            others.sort(key=lambda j: float((vectors[i] - vectors[j]).norm()))
        assert found[i].tolist() == others[:5]


def test_fewer_rows_than_neighbors() -> None:
    assert nearest_neighbors(torch.randn(3, 2), 10).shape == (3, 2)
    alone = torch.tensor([False, True, True])
    assert nearest_neighbors(torch.randn(3, 2), 10, excluded=alone).shape == (3, 0)


def test_bad_values_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`infusion\.metric` must be one of cosine, euclidean"):
        nearest_neighbors(torch.randn(3, 2), 1, "manhattan")
