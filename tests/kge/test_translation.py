"""Distances by one product and their roots in place, against the plain formulas beside them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohone.kge.translation import minus_root, squared_distances

sizes = st.integers(1, 6)


@given(sizes, sizes, sizes)
def test_squared_distances_are_those_of_differences(n: int, m: int, dim: int) -> None:
    torch.manual_seed(n + 10 * m + 100 * dim)
    queries, table = torch.randn(n, dim).double(), torch.randn(m, dim).double()
    wanted = (queries[:, None] - table).square().sum(2)
    torch.testing.assert_close(squared_distances(queries, table), wanted)


def test_low_precision_spares_the_lengths() -> None:
    queries = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = squared_distances(queries, 1000 * queries[:1])
    wanted = (queries[:, None].double() - 1000 * queries[:1].double()).square().sum(2)
    # The product is 1e3 times smaller than the square, and has two or three digits.
    torch.testing.assert_close(found.double(), wanted, rtol=2e-5, atol=0)


@pytest.mark.parametrize("shape", [(7,), (3, 4), (0, 4), (3, 200_000)])
def test_roots_and_gradients_are_the_plain_ones(shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    squares = torch.randn(shape, generator=generator).double().mul_(4).requires_grad_()  # Some below 0.
    plain = squares.detach().clone().requires_grad_()
    scores = minus_root(squares.clone())
    wanted = -(plain + (plain.clamp(min=1e-6) - plain).detach()).sqrt()
    torch.testing.assert_close(scores, wanted)
    weight = torch.randn(shape, generator=generator).double()
    (scores * weight).sum().backward()
    (wanted * weight).sum().backward()
    torch.testing.assert_close(squares.grad, plain.grad)
