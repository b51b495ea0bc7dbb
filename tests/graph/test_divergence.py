import math

import numpy as np
import torch
from scipy.spatial.distance import jensenshannon

from mohone.graph.divergence import HistogramDivergence, log_histograms


def histograms(n: int, n_bins: int, total: int) -> torch.Tensor:
    """Random counts, many of them 0, of equal sums."""
    generator = np.random.default_rng(0)
    shares = generator.dirichlet(np.full(n_bins, 0.3), n)
    return torch.tensor(
        np.array([generator.multinomial(total, share) for share in shares]), dtype=torch.int32
    )


def test_divergence_equals_scipy() -> None:
    counts = histograms(9, 11, 1000)
    numbers = torch.tensor([3, 0, 5])
    wanted = [[jensenshannon(counts[i], other) ** 2 for other in counts] for i in numbers]
    divergence = HistogramDivergence(counts)
    np.testing.assert_allclose(divergence.rows(numbers), wanted, atol=1e-6)
    others = torch.tensor([[1, 2], [0, 8], [5, 5]])
    wanted = [
        [jensenshannon(counts[i], counts[j]) ** 2 for j in row]
        for i, row in zip(numbers, others, strict=True)
    ]
    np.testing.assert_allclose(divergence.between(numbers, others), wanted, atol=1e-6)


def test_divergence_lies_between_none_and_log_2() -> None:
    counts = 7 * torch.eye(3, dtype=torch.int32)
    wanted = math.log(2) * (1 - torch.eye(3))
    torch.testing.assert_close(HistogramDivergence(counts).rows(torch.arange(3)), wanted)


def test_threads_change_nothing() -> None:
    counts, numbers = histograms(300, 16, 500), torch.arange(300)
    many = HistogramDivergence(counts).rows(numbers)
    n_threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert torch.equal(HistogramDivergence(counts).rows(numbers), many)
    finally:
        torch.set_num_threads(n_threads)


def test_histogram_on_a_logarithmic_axis() -> None:
    values = torch.tensor([[1.0, 0.5, 0.02, 0.0], [1e-12, 1.5e-4, 2e-4, 0.9]])
    # Four bins between 1e-8 and 1: below 1e-6, 1e-4, 1e-2 and the rest; zeros count to the first.
    assert log_histograms(values, 4, lowest=1e-8).tolist() == [[1, 0, 0, 3], [1, 0, 2, 1]]


def test_histogram_counts_all_values() -> None:
    values = torch.rand(5, 50)
    counts = log_histograms(values, 8)
    assert counts.sum(1).tolist() == [50] * 5
    edges = np.exp(np.linspace(math.log(1e-9), 0, 9))
    wanted = [np.histogram(np.clip(row, 1e-9, None), edges)[0].tolist() for row in values.double().numpy()]
    assert counts.tolist() == wanted
