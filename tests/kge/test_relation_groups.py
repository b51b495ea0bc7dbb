"""Products with a matrix for each relation, against a loop over the batch."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohone.kge.relation_groups import map_by_relation, products_by_relation


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 4), st.integers(1, 5), st.booleans())
def test_products_and_gradients_are_those_of_a_loop(
    batch: int, n_relations: int, k: int, d: int, transposed: bool
) -> None:
    torch.manual_seed(batch + 100 * n_relations)
    relation = torch.randint(n_relations, (batch,))
    vectors = torch.randn(batch, k, dtype=torch.float64, requires_grad=True)
    shape = (n_relations, d, k) if transposed else (n_relations, k, d)
    matrices = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    found = products_by_relation(vectors, relation, matrices, transposed)
    each = [v @ (m.T if transposed else m) for v, m in zip(vectors, matrices[relation], strict=True)]
    wanted = torch.stack(each) if each else vectors.new_zeros(0, d)
    torch.testing.assert_close(found, wanted)
    weight = torch.randn(batch, d, dtype=torch.float64)
    gradients: list[Any] = [
        torch.autograd.grad(
            (out * weight).sum(), (vectors, matrices), allow_unused=True, materialize_grads=True
        )
        for out in (found, wanted)
        if batch
    ]
    for ours, theirs in zip(*gradients, strict=True) if batch else ():
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("relation", [[2, 0, 2, 1, 0], [3, 3, 3], [1]])
def test_any_function_by_relation_keeps_the_order(relation: list[int]) -> None:
    vectors, matrices = torch.randn(len(relation), 3), torch.randn(4, 2, 3)
    found = map_by_relation(lambda x, m: (x @ m.T).exp(), vectors, torch.tensor(relation), matrices)
    wanted = torch.stack([(matrices[r] @ v).exp() for r, v in zip(relation, vectors, strict=True)])
    torch.testing.assert_close(found, wanted)
