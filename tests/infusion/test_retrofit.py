import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import spsolve

from mohone.core.errors import ConfigError
from mohone.core.nearest import nearest_neighbors
from mohone.infusion.retrofit import Pull, column_blocks, retrofit, retrofit_and_tell

TWO = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
EACH_OTHER = torch.tensor([[1], [0]])


def direct_solution(first: torch.Tensor, neighbors: torch.Tensor, beta: float, alpha: float) -> np.ndarray:
    """The fixed point by a sparse direct solve in float64."""
    n, k = neighbors.shape
    matrix = sparse.lil_matrix((n, n))
    right = alpha * first.double().numpy()
    for i in range(n):
        linked = neighbors[i, 0] >= 0
        matrix[i, i] = alpha + (beta if linked else 0.0)
        for j in neighbors[i].tolist():
            if linked:
                matrix[i, j] -= beta / k
    return np.asarray(spsolve(matrix.tocsc(), right))


def objective(vectors: torch.Tensor, first: torch.Tensor, neighbors: torch.Tensor, pull: Pull) -> float:
    """The paper's eq. 3, by a loop."""
    total = pull.alpha * (vectors - first).double().square().sum()
    for i, near in enumerate(neighbors.tolist()):
        linked = [j for j in near if j >= 0]
        for j in linked:
            total += pull.beta / len(linked) * (vectors[i] - vectors[j]).double().square().sum()
    return float(total)


@given(st.floats(0.01, 0.5), st.floats(0.5, 2.0), st.integers(1, 6), st.integers(0, 5))
def test_converges_to_the_direct_solution(beta: float, alpha: float, k: int, seed: int) -> None:
    torch.manual_seed(seed)
    first = torch.randn(12, 3)
    excluded = torch.arange(12) == 4
    neighbors = nearest_neighbors(torch.randn(12, 2), k, excluded=excluded).rows
    found = retrofit(first, neighbors, Pull(beta, alpha, 60))
    np.testing.assert_allclose(found, direct_solution(first, neighbors, beta, alpha), atol=1e-5)
    assert torch.equal(found[4], first[4])


def test_ten_iterations_err_no_more_than_promised() -> None:
    torch.manual_seed(0)
    first = torch.randn(50, 4)
    neighbors = nearest_neighbors(torch.randn(50, 3), 5).rows
    limit = torch.from_numpy(direct_solution(first, neighbors, 0.6, 1.0)).float()
    error = (retrofit(first, neighbors, Pull(0.6)) - limit).abs().max()
    assert error <= (0.6 / 1.6) ** 10 * (first - limit).abs().max() + 1e-6


def test_two_neighbours_in_closed_form() -> None:
    wanted = torch.tensor([[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    torch.testing.assert_close(retrofit(TWO, EACH_OTHER, Pull(1.0, iterations=40)), wanted)


def test_one_update_is_the_papers_equation() -> None:
    torch.manual_seed(0)
    first = torch.randn(6, 3)
    neighbors = nearest_neighbors(torch.randn(6, 2), 2).rows
    beta, alpha = 0.8, 1.5
    for i, row in enumerate(retrofit(first, neighbors, Pull(beta, alpha, 1))):
        pull = sum(beta / 2 * first[j] for j in neighbors[i].tolist())
        torch.testing.assert_close(row, (pull + alpha * first[i]) / (beta + alpha))


def test_no_pull_and_no_neighbours_change_nothing() -> None:
    assert torch.equal(retrofit(TWO, EACH_OTHER, Pull(0.0)), TWO)
    assert torch.equal(retrofit(TWO, torch.empty(2, 0, dtype=torch.int64), Pull(1.0)), TWO)
    assert torch.equal(retrofit(TWO, torch.tensor([[-1], [-1]]), Pull(1.0)), TWO)


def test_tables_of_any_shape() -> None:
    matrices = torch.randn(5, 2, 3)
    neighbors = nearest_neighbors(torch.randn(5, 2), 2).rows
    flat = retrofit(matrices.flatten(1), neighbors, Pull(0.3))
    torch.testing.assert_close(retrofit(matrices, neighbors, Pull(0.3)), flat.reshape(5, 2, 3))


def test_a_row_of_fewer_neighbours_is_drawn_as_far() -> None:
    torch.manual_seed(0)
    first = torch.randn(3, 4)
    short, whole = torch.tensor([[1, -1], [2, 0], [-1, -1]]), torch.tensor([[1], [0], [0]])
    assert torch.equal(
        retrofit(first, short, Pull(0.5, iterations=1))[0], retrofit(first, whole, Pull(0.5, iterations=1))[0]
    )


@pytest.mark.parametrize("numbers", [7, 1 << 22])
def test_what_is_told_is_the_objective_of_each_iteration(
    monkeypatch: pytest.MonkeyPatch, numbers: int
) -> None:
    monkeypatch.setattr("mohone.infusion.retrofit._SUMMED", numbers)
    torch.manual_seed(0)
    first, neighbors = torch.randn(6, 4), torch.randint(6, (6, 3))
    neighbors[2] = -1
    neighbors[4, 1:] = -1
    told = retrofit_and_tell(first, neighbors, Pull(0.5, 2.0, 3))
    states = [first, *(retrofit(first, neighbors, Pull(0.5, 2.0, i)) for i in (1, 2, 3))]
    wanted = [objective(state, first, neighbors, Pull(0.5, 2.0)) for state in states]
    assert told.objective == pytest.approx(wanted, rel=1e-5)
    assert torch.equal(told.vectors, states[-1])


def test_mutual_neighbours_lower_the_objective() -> None:
    before, *_, after = retrofit_and_tell(TWO, EACH_OTHER, Pull(1.0)).objective
    assert before == pytest.approx(4.0)
    assert after < before


def test_bad_values_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`infusion.beta` must be >= 0, but is -1\."):
        retrofit(TWO, EACH_OTHER, Pull(-1.0))
    with pytest.raises(ConfigError, match=r"`infusion.alpha` must be > 0, but is 0\."):
        retrofit(TWO, EACH_OTHER, Pull(1.0, alpha=0.0))


def test_some_columns_at_a_time_are_drawn_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    first = torch.randn(30, 7)
    neighbors = nearest_neighbors(torch.randn(30, 3), 5, excluded=torch.arange(30) % 9 == 0).rows
    pull = Pull(0.5, 1.5, 4)
    moved, curve = retrofit_and_tell(first, neighbors, pull)
    monkeypatch.setattr("mohone.infusion.retrofit._BLOCK", 60)
    monkeypatch.setattr("mohone.infusion.retrofit._LEAST_COLUMNS", 1)
    monkeypatch.setattr("mohone.infusion.retrofit._ROWS", 4)
    assert [part.stop - part.start for part in column_blocks(first)] == [2, 2, 2, 2]
    again = retrofit_and_tell(first, neighbors, pull)
    torch.testing.assert_close(again.vectors, moved)
    assert again.objective == pytest.approx(curve, rel=1e-5)


def test_no_pull_has_a_flat_curve() -> None:
    assert retrofit_and_tell(TWO, EACH_OTHER, Pull(0.0, iterations=2)).objective == [0.0] * 3
    assert retrofit_and_tell(TWO, EACH_OTHER[:, :0], Pull(1.0, iterations=2)).objective == [0.0] * 3
