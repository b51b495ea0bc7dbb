"""The order of names, beside Python's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohone.core.arrays import sorted_distinct
from mohone.data.names import Names
from mohone.data.ordering import sorted_numbers

letters = st.text(st.sampled_from("ab\x00\x08\u00e9\U0001f600"), max_size=3)
names = st.builds(
    lambda start, middle, end: start + middle + end, letters, st.sampled_from(["", "x" * 7]), letters
)


@pytest.mark.parametrize("ending", ["", "\t"])
@given(texts=st.lists(names, unique=True, max_size=30))
def test_names_are_in_the_order_of_their_code_points(ending: str, texts: list[str]) -> None:
    found = sorted_numbers(Names.of([text.encode() for text in texts]), ending.encode())
    assert found.tolist() == sorted(range(len(texts)), key=lambda code: texts[code] + ending)


def test_lines_of_many_names_are_the_same_by_any_number_of_threads() -> None:
    codes = np.random.default_rng(0).integers(0, 300, (100_000, 2))
    texts = [f"n{code}" for code in range(300)]
    lines = Names.of([text.encode() for text in texts]).text(codes, b"\r\n")
    assert lines.decode() == "".join(f"{texts[one]}\t{texts[other]}\r\n" for one, other in codes.tolist())


@given(st.lists(st.integers(-3, 3)))
def test_distinct_numbers_are_those_of_a_set(values: list[int]) -> None:
    assert sorted_distinct(np.array(values, np.int64)).tolist() == sorted(set(values))
