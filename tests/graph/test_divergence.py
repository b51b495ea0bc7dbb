import math

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from mohone.graph.divergence import jensen_shannon, log_histograms


def test_divergence_equals_scipy() -> None:
    generator = torch.Generator().manual_seed(0)
    p = torch.rand(7, 11, generator=generator) * (torch.rand(7, 11, generator=generator) < 0.6)
    p[:, 0] += 0.1
    p /= p.sum(1, keepdim=True)
    q = p[[3, 0, 5]]
    wanted = [[jensenshannon(a, b) ** 2 for b in q.double().numpy()] for a in p.double().numpy()]
    np.testing.assert_allclose(jensen_shannon(p, q), wanted, atol=1e-6)


def test_divergence_lies_between_none_and_log_2() -> None:
    p = torch.eye(3)
    wanted = math.log(2) * (1 - torch.eye(3))
    torch.testing.assert_close(jensen_shannon(p, p), wanted)


def test_large_inputs_are_cut_into_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    p = torch.rand(20, 5).softmax(1)
    whole = jensen_shannon(p, p)
    monkeypatch.setattr("mohone.graph.divergence._BLOCK_ELEMENTS", 7)
    torch.testing.assert_close(jensen_shannon(p, p), whole)


def test_histogram_on_a_logarithmic_axis() -> None:
    values = torch.tensor([[1.0, 0.5, 0.02, 0.0], [1e-12, 1e-4, 2e-4, 0.9]])
    # Four bins between 1e-8 and 1: below 1e-6, 1e-4, 1e-2 and the rest; zeros count to the first.
    torch.testing.assert_close(
        log_histograms(values, 4, lowest=1e-8), torch.tensor([[0.25, 0, 0, 0.75], [0.25, 0, 0.5, 0.25]])
    )


def test_histogram_is_a_distribution() -> None:
    histograms = log_histograms(torch.rand(5, 50), 8)
    torch.testing.assert_close(histograms.sum(1), torch.ones(5))
